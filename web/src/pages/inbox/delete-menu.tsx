import { useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ApiError, call } from '../../api.ts';
import { formatCount, plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toast.tsx';
import { refetchTopics } from '../../queries.ts';

/** One call deletes so many by their ids. */
const CHUNK = 500;

/** The newest captured message, of one key or of all. */
async function newestOf(key: string | null): Promise<string | null> {
  const { messages } = await call('inbox', { query: '', key, limit: 1, before: null });
  return messages[0]?.id ?? null;
}

/** Deletes captured mail, as often as it takes; gives how many are gone. */
function useDelete(onDeleted: () => void) {
  const client = useQueryClient();
  const [gone, setGone] = useState<number | null>(null);
  const run = async (ids: readonly string[] | null, key: string | null) => {
    setGone(0);
    let total = 0;
    try {
      // What comes from here on stays.
      const upTo = ids === null ? await newestOf(key) : null;
      for (let start = 0; ; start += CHUNK) {
        const part = ids?.slice(start, start + CHUNK) ?? null;
        const { deleted, more } = await call('deleteCaptured', { ids: part && [...part], key, upTo });
        total += deleted;
        setGone(total);
        if (ids === null ? !more : start + CHUNK >= ids.length) break;
      }
      toast.success(`${plural(total, 'message')} deleted.`);
      onDeleted();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast.error(`${error.message} ${plural(total, 'message')} deleted.`, error.requestId);
    } finally {
      setGone(null);
      refetchTopics(client, new Set(['inbox', 'messages']));
    }
  };
  return { gone, run };
}

/** Deletes what is ticked, or all that is there. */
export function DeleteMenu({
  selected,
  keyName,
  isEmpty,
  onDeleted,
}: {
  readonly selected: readonly string[];
  /** Of all, only mail of this key. */
  readonly keyName: string | null;
  readonly isEmpty: boolean;
  readonly onDeleted: (ids: readonly string[] | null) => void;
}) {
  const [asks, setAsks] = useState<'selected' | 'all' | null>(null);
  const ids = asks === 'selected' ? selected : null;
  const { gone, run } = useDelete(() => {
    setAsks(null);
    onDeleted(ids);
  });
  const what = asks === 'selected' ? plural(selected.length, 'message') : 'all captured mail';
  return (
    <>
      {selected.length > 0 ? (
        <Button icon={Trash2} onClick={() => setAsks('selected')}>
          Delete {formatCount(selected.length)} selected
        </Button>
      ) : (
        <Button icon={Trash2} disabled={isEmpty} onClick={() => setAsks('all')}>
          Delete all
        </Button>
      )}
      <ConfirmDialog
        open={asks !== null}
        onClose={() => setAsks(null)}
        onConfirm={() => void run(ids, keyName)}
        title={`Delete ${what}${asks === 'all' && keyName !== null ? ` of the key ${keyName}` : ''}?`}
        confirm="Delete"
        danger
        busy={gone !== null}
      >
        <p>The contents are removed for good. Their records stay in the list of messages.</p>
        {asks === 'all' && <p>What a search has found makes no difference: all of it goes.</p>}
        {gone !== null && <p role="status">{plural(gone, 'message')} deleted so far.</p>}
      </ConfirmDialog>
    </>
  );
}

/** Deletes one message. */
export function DeleteOne({ id, onDeleted }: { readonly id: string; readonly onDeleted: () => void }) {
  const [asks, setAsks] = useState(false);
  const { gone, run } = useDelete(() => {
    setAsks(false);
    onDeleted();
  });
  return (
    <>
      <Button small icon={Trash2} onClick={() => setAsks(true)}>
        Delete
      </Button>
      <ConfirmDialog
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={() => void run([id], null)}
        title="Delete this message?"
        confirm="Delete"
        danger
        busy={gone !== null}
      >
        <p>Its content is removed for good. Its record stays in the list of messages.</p>
      </ConfirmDialog>
    </>
  );
}
