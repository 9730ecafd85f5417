import { TriangleAlert } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';

interface Shown {
  readonly secret: string;
  /** What it is. */
  readonly label?: string | undefined;
}

/** A secret that is shown this once. */
export function SecretOnce({ secret, label = 'API key' }: Shown) {
  return (
    <div className="rounded-md border border-retrying/40 bg-retrying-soft p-3">
      <div className="flex items-center gap-2 text-sm font-medium text-retrying">
        <TriangleAlert aria-hidden size={15} className="shrink-0" />
        Copy it now: it is shown only once.
      </div>
      <div className="mt-2 flex items-center gap-1 rounded-md border border-line bg-surface py-1 pr-1 pl-3">
        <output aria-label={label} className="min-w-0 flex-1 font-mono text-sm break-all select-all">
          {secret}
        </output>
        <CopyButton text={secret} label={`Copy ${label}`} />
      </div>
    </div>
  );
}

/** A dialog that shows a secret this once, and what to do with it. Only its button closes it: a slip would lose the secret. */
export function SecretDialog({
  secret,
  label,
  onClose,
  children,
  ...dialog
}: Shown & Omit<ComponentProps<typeof Dialog>, 'footer'>) {
  return (
    <Dialog {...dialog} footer={<Button look="primary" label="I have copied it" onClick={onClose} />}>
      <div className="space-y-3">
        <SecretOnce secret={secret} label={label} />
        {children}
      </div>
    </Dialog>
  );
}
