import { Button } from '../../../parts/button.tsx';
import { ConfirmDialog, Dialog } from '../../../parts/dialog.tsx';
import { useAct } from '../../../queries.ts';
import type { Key } from './key-form.ts';
import { SecretOnce } from './secret-once.tsx';

/** Gives a key a second secret, and shows it once. */
export function RotateDialog({ of, onClose }: { readonly of: Key; readonly onClose: () => void }) {
  const rotate = useAct('rotateKey', { changes: ['keys'] });
  if (rotate.data)
    return (
      <Dialog
        open
        onClose={onClose}
        title="The new secret"
        description={<span className="break-words">{of.name}</span>}
        footer={
          <Button look="primary" onClick={onClose}>
            I have copied it
          </Button>
        }
      >
        <SecretOnce secret={rotate.data.secret} />
        <p className="mt-3 text-soft">
          The old secret works for another 24 hours. Put the new one in its place before then.
        </p>
      </Dialog>
    );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => rotate.mutate({ key: of.id })}
      busy={rotate.isPending}
      title="Give this key a new secret?"
      confirm="Make a new secret"
    >
      <p>
        <strong className="font-semibold break-words">{of.name}</strong> stays the same key, with its limits
        and its messages. The old secret works for another 24 hours beside the new one.
      </p>
    </ConfirmDialog>
  );
}
