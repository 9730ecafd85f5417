import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ApiError, call } from '../../api.ts';
import { plural } from '../../format.ts';
import { ConfirmDialog } from '../../parts/ask.tsx';
import { Button } from '../../parts/button.tsx';
import { toast } from '../../parts/toast.tsx';
import { refetchShown } from '../../queries.ts';

/** One call deletes so many by their ids. */
const CHUNK = 500;

/** The newest captured message, of one key and box or of all. */
async function newestOf(key: string | null, box: string | null): Promise<string | null> {
  const { messages } = await call('inbox', { query: '', key, box, limit: 1, before: null });
  return messages[0]?.id ?? null;
}

/** Deletes captured mail, once that was asked about, as often as it takes. */
export function DeleteButton({
  label,
  small = false,
  disabled = false,
  ids,
  keyName = null,
  box = null,
  onDeleted,
}: {
  readonly label: string;
  readonly small?: boolean;
  readonly disabled?: boolean;
  /** Null: all that is there. */
  readonly ids: readonly string[] | null;
  /** Of all, only mail of this key. */
  readonly keyName?: string | null;
  /** Of all, only mail in this box. */
  readonly box?: string | null;
  readonly onDeleted: () => void;
}) {
  const [asks, setAsks] = useState(false);
  const [gone, setGone] = useState<number | null>(null);
  const run = async () => {
    setGone(0);
    let total = 0;
    try {
      // What comes from here on stays.
      const upTo = ids === null ? await newestOf(keyName, box) : null;
      for (let start = 0; ; start += CHUNK) {
        const part = ids?.slice(start, start + CHUNK) ?? null;
        const answer = await call('deleteCaptured', { ids: part && [...part], key: keyName, box, upTo });
        total += answer.deleted;
        setGone(total);
        if (ids === null ? !answer.more : start + CHUNK >= ids.length) break;
      }
      toast.success(`${plural(total, 'message')} deleted.`);
      setAsks(false);
      onDeleted();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast.error(`${error.message} ${plural(total, 'message')} deleted.`, error.requestId);
    } finally {
      setGone(null);
      refetchShown();
    }
  };
  const what = ids === null ? 'all captured mail' : plural(ids.length, 'message');
  return (
    <>
      <Button small={small} icon={Trash2} label={label} disabled={disabled} onClick={() => setAsks(true)} />
      <ConfirmDialog
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={() => void run()}
        title={`Delete ${what}${keyName === null ? '' : ` of the key ${keyName}`}${box === null ? '' : ` in the box ${box}`}?`}
        confirm="Delete"
        danger
        busy={gone !== null}
      >
        <p>Contents are removed for good. Records stay in the list of messages.</p>
        {ids === null && <p>The present search makes no difference: everything is deleted.</p>}
        {gone !== null && <p role="status">{plural(gone, 'message')} deleted so far.</p>}
      </ConfirmDialog>
    </>
  );
}
