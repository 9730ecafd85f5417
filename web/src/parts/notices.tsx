import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

const LEVELS = {
  info: [Info, 'bg-accent', 'text-accent'],
  warning: [TriangleAlert, 'bg-chart-retrying', 'text-retrying'],
  critical: [CircleAlert, 'bg-chart-failed', 'text-failed'],
} as const;

/** Several things that someone should know, on one sheet; for a single one there is `Banner`. */
export function Notices({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <ul
      aria-label={label}
      className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface empty:hidden"
    >
      {children}
    </ul>
  );
}

/** One of {@link Notices}: what it is, and what can be done about it. */
export function Notice({
  level,
  actions,
  children,
}: {
  readonly level: keyof typeof LEVELS;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const [Icon, stripe, sign] = LEVELS[level];
  return (
    <li className="relative flex items-center gap-3 py-2 pr-2.5 pl-4">
      <span aria-hidden className={classNames('absolute inset-y-0 left-0 w-[3px]', stripe)} />
      <Icon aria-hidden size={16} className={classNames('shrink-0', sign)} />
      <div className="min-w-0 flex-1 py-0.5 break-words">
        <span className="sr-only">{level}: </span>
        {children}
      </div>
      {actions}
    </li>
  );
}
