import { ChevronRight, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** What is seldom wanted, behind its title. */
export function Fold({
  title,
  note,
  icon: Icon,
  open = false,
  children,
  className,
}: {
  readonly title: string;
  /** What it is about; not on phones. */
  readonly note?: string;
  readonly icon?: LucideIcon;
  /** Opens it; who closes it is not overruled until that changes. */
  readonly open?: boolean;
  readonly children: ReactNode;
  readonly className?: string;
}) {
  return (
    <details open={open} className={classNames('group rounded-md border border-line', className)}>
      <summary className="flex list-none items-center gap-2 rounded-md px-3 py-2.5 hover:bg-sunken">
        {Icon && <Icon aria-hidden size={15} className="shrink-0 text-soft" />}
        <ChevronRight
          aria-hidden
          size={15}
          className={classNames(
            'shrink-0 text-soft transition-transform group-open:rotate-90',
            Icon && 'order-1',
          )}
        />
        <span className="shrink-0 font-medium">{title}</span>
        <span className="min-w-0 flex-1 truncate text-sm text-soft max-sm:invisible">{note}</span>
      </summary>
      <div className="border-t border-line p-3">{children}</div>
    </details>
  );
}
