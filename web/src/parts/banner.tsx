import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

const LEVELS = {
  info: [Info, 'border-accent/30 bg-accent-soft', 'text-accent'],
  warning: [TriangleAlert, 'border-retrying/30 bg-retrying-soft', 'text-retrying'],
  critical: [CircleAlert, 'border-failed/30 bg-failed-soft', 'text-failed'],
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
  const [Icon, sheet, sign] = LEVELS[level];
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
