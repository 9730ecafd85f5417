import { TriangleAlert } from 'lucide-react';
import { CopyButton } from '../../../parts/copy.tsx';

/** A secret that is shown this once. */
export function SecretOnce({
  secret,
  label = 'API key',
}: {
  readonly secret: string;
  readonly label?: string;
}) {
  return (
    <div className="rounded-md border border-retrying/40 bg-retrying-soft p-3">
      <div className="flex items-center gap-2 text-sm font-medium text-retrying">
        <TriangleAlert aria-hidden size={15} className="shrink-0" />
        Copy it now: it is shown this once.
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
