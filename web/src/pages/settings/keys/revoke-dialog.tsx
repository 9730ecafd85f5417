import { useState } from 'react';
import { Checkbox } from '../../../parts/checkbox.tsx';
import { ConfirmDialog } from '../../../parts/dialog.tsx';
import { Time } from '../../../parts/values.tsx';
import { useAct } from '../../../queries.ts';
import type { Key } from './key-form.ts';

/** Takes a key away, once that was asked for again. */
export function RevokeDialog({ of, onClose }: { readonly of: Key; readonly onClose: () => void }) {
  const [cancelQueued, setCancelQueued] = useState(false);
  const revoke = useAct('revokeKey', {
    changes: ['keys', 'messages', 'queue'],
    done: `${of.name} is revoked`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => revoke.mutate({ key: of.id, cancelQueued })}
      busy={revoke.isPending}
      title="Revoke this key?"
      confirm="Revoke key"
      danger
    >
      <p>
        Whatever uses <strong className="font-semibold break-words">{of.name}</strong> gets 401 within a
        second, and for good. To change its secret alone, rotate it instead.
      </p>
      <p className="text-soft">
        {of.lastUsedAt === null ? (
          'It was never used.'
        ) : (
          <>
            It was used last <Time at={of.lastUsedAt} />.
          </>
        )}
      </p>
      <Checkbox
        label="Cancel what it has queued"
        hint="Without this, mail that it has submitted is still delivered."
        checked={cancelQueued}
        onChange={setCancelQueued}
      >
        Cancel what it has queued, too
      </Checkbox>
    </ConfirmDialog>
  );
}
