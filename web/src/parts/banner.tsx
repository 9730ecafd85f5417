import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** The sign of each level, its colour, and those of a sheet and of a stripe. */
const LEVELS = {
  info: [Info, 'text-accent', 'border-accent/30 bg-accent-soft', 'bg-accent'],
  warning: [TriangleAlert, 'text-retrying', 'border-retrying/30 bg-retrying-soft', 'bg-chart-retrying'],
  critical: [CircleAlert, 'text-failed', 'border-failed/30 bg-failed-soft', 'bg-chart-failed'],
} as const;

/** What someone should know now, and what to do about it. */
export function Banner({
  level = 'info',
  title,
  children,
  actions,
}: {
  readonly level?: keyof typeof LEVELS;
  readonly title?: ReactNode;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) {
  const [Icon, sign, sheet] = LEVELS[level];
  return (
    <div
      role={level === 'critical' ? 'alert' : 'status'}
      className={classNames('flex flex-wrap items-start gap-x-3 gap-y-2 rounded-lg border px-4 py-3', sheet)}
    >
      <Icon aria-hidden size={18} className={classNames('mt-0.5 shrink-0', sign)} />
      <div className="min-w-0 flex-1 basis-52">
        {title !== undefined && <div className="font-semibold">{title}</div>}
        {children !== undefined && <div className="break-words">{children}</div>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
    </div>
  );
}

/** Several things that someone should know, on one sheet; for a single one there is {@link Banner}. */
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
  const [Icon, sign, , stripe] = LEVELS[level];
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
