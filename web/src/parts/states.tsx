import { CircleAlert, Info, Lock, type LucideIcon, RotateCw, SearchX, TriangleAlert } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';
import { ApiError } from '../api.ts';
import { Button, ButtonLink } from './button.tsx';
import { classNames } from './class-names.ts';
import { useTitle } from './page.tsx';

/** There is nothing to show, and what to do about it. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  actions,
}: {
  readonly icon?: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      {Icon && (
        <span className="mb-4 flex size-11 items-center justify-center rounded-lg border border-line bg-paper text-soft">
          <Icon aria-hidden size={20} strokeWidth={1.75} />
        </span>
      )}
      <h2 className="text-lg font-semibold">{title}</h2>
      {children !== undefined && <div className="mt-1 max-w-md text-soft">{children}</div>}
      {actions !== undefined && <div className="mt-5 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}

/** What grey bars stand for: text, the rows of a table, cards beside each other, or a row of figures above sheets. */
type Shape = 'text' | 'table' | 'cards' | 'figures';

const SHAPES: Readonly<Record<Shape, readonly [all: string, one: (line: number) => ReactNode]>> = {
  text: ['space-y-3 p-4', (line) => <Bar line={line} />],
  table: [
    'divide-y divide-line',
    (line) => (
      <div className="flex h-11 items-center gap-6 px-4">
        <div className="min-w-0 flex-1">
          <div className={classNames('skeleton h-3.5', ['w-4/5', 'w-3/5', 'w-2/3'][line % 3])} />
        </div>
        <div className="skeleton h-5 w-18" />
        <div className="skeleton hidden h-3.5 w-1/5 sm:block" />
        <div className="skeleton hidden h-3.5 w-12 sm:block" />
      </div>
    ),
  ],
  cards: [
    'grid gap-4 sm:grid-cols-2 xl:grid-cols-3',
    () => (
      <div className="h-44 space-y-3 rounded-lg border border-line bg-surface p-4">
        <div className="skeleton h-9 w-3/5" />
        <div className="skeleton h-5 w-18" />
        <div className="skeleton h-3.5 w-4/5" />
      </div>
    ),
  ],
  figures: ['space-y-4', (line) => (line === 0 ? <FigureBars /> : <SheetBars />)],
};

function FigureBars() {
  return (
    <div className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-5">
      {['w-3/5', 'w-4/5', 'w-2/3', 'w-3/5', 'w-2/3'].map((width, cell) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: cells are all alike
        <div key={cell} className="space-y-2 bg-surface px-4 py-3.5 max-sm:last:col-span-2">
          <div className={classNames('skeleton h-3', width)} />
          <div className="skeleton h-5 w-2/5" />
          <div className="skeleton h-2.5 w-1/2" />
        </div>
      ))}
    </div>
  );
}

function SheetBars() {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <div className="space-y-2 border-b border-line px-4 py-3">
        <div className="skeleton h-3.5 w-28" />
        <div className="skeleton h-3 w-1/3" />
      </div>
      <div className="p-4">
        <div className="skeleton h-44" />
      </div>
    </div>
  );
}

function Bar({ line }: { readonly line: number }) {
  return <div className={classNames('skeleton h-4', line % 3 === 2 ? 'w-3/5' : 'w-full')} />;
}

/** Grey bars in the place of text, within a part of a page that is being fetched as a whole. */
export function Bars({ count }: { readonly count: number }) {
  return (
    <div aria-hidden className="space-y-3">
      {Array.from({ length: count }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bars are all alike
        <Bar key={line} line={line} />
      ))}
    </div>
  );
}

/** Grey bars in the place of what is being fetched, in its shape. */
export function LoadingState({
  lines = 4,
  label = 'Loading',
  shape = 'text',
}: {
  readonly lines?: number | undefined;
  readonly label?: string;
  readonly shape?: Shape | undefined;
}) {
  const [all, one] = SHAPES[shape];
  return (
    <div role="status" aria-label={label} className={all}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bars are all alike
        <Fragment key={line}>{one(line)}</Fragment>
      ))}
    </div>
  );
}

/** Something could not be fetched: what went wrong, how to find it in the log, and to try again unless it is gone. */
export function ErrorState({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  const { status, requestId } = error instanceof ApiError ? error : { status: 0, requestId: null };
  if (status === 404)
    return (
      <EmptyState icon={SearchX} title="Not found">
        {error.message}
      </EmptyState>
    );
  return (
    <div role="alert" className="flex flex-col items-center px-6 py-10 text-center">
      <CircleAlert aria-hidden size={22} className="mb-3 text-failed" />
      <h2 className="text-lg font-semibold">This could not be shown</h2>
      <p className="mt-1 max-w-lg break-words text-soft">{error.message}</p>
      {requestId !== null && (
        <p className="mt-2 text-xs text-soft">
          Request <code className="font-mono select-all">{requestId}</code>; the log has more under this id.
        </p>
      )}
      {onRetry && <Button label="Try again" className="mt-4" icon={RotateCw} onClick={onRetry} />}
    </div>
  );
}

/** What a fetched answer needs to be shown by {@link Fetched}. */
interface FetchedQuery<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  refetch(): unknown;
}

/** Shows an answer when it is there, and before that that it is being fetched, or why it could not be. */
export function Fetched<Data>({
  query,
  lines,
  shape,
  children,
}: {
  readonly query: FetchedQuery<Data>;
  readonly lines?: number | undefined;
  readonly shape?: Shape;
  readonly children?: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return children?.(query.data);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return <LoadingState lines={lines} shape={shape} />;
}

/** A page that only some may see. */
export function Forbidden() {
  return (
    <EmptyState icon={Lock} title="Only administrators see this">
      Ask an administrator for the role, if you need it.
    </EmptyState>
  );
}

/** There is no such page. */
export function NotFoundPage() {
  useTitle('Not found');
  return (
    <div className="mx-auto max-w-md px-6 py-24 text-center">
      <div className="font-mono text-sm text-soft">404</div>
      <h1 className="mt-1 text-xl font-semibold">There is nothing at this address</h1>
      <p className="mt-1 text-soft">It may have been removed, or the address is incomplete.</p>
      <ButtonLink label="To the overview" to="/" className="mt-5" />
    </div>
  );
}

/** A page broke. */
export function BrokenPage({ error }: { readonly error: Error }) {
  useTitle('Something broke');
  return (
    <div role="alert" className="mx-auto max-w-xl px-6 py-24 text-center">
      <h1 className="text-xl font-semibold">This page broke</h1>
      <p className="mt-1 text-soft">
        The service still runs: only this page is affected. After an update of Waybill, reloading the page
        fixes it.
      </p>
      <pre className="mt-4 overflow-auto rounded-md border border-line bg-surface p-3 text-left text-sm whitespace-pre-wrap">
        {error.message}
      </pre>
      <Button
        label="Reload the page"
        className="mt-5"
        look="primary"
        onClick={() => window.location.reload()}
      />
    </div>
  );
}

/** The sign of each level, its colour, and those of a sheet and of a stripe. */
const LEVELS = {
  info: [Info, 'text-accent', 'border-accent/30 bg-accent-soft', 'bg-accent'],
  warning: [TriangleAlert, 'text-retrying', 'border-retrying/30 bg-retrying-soft', 'bg-chart-retrying'],
  critical: [CircleAlert, 'text-failed', 'border-failed/30 bg-failed-soft', 'bg-chart-failed'],
} as const;

/**
 * What someone should know now, and what to do about it. Where it `ticks`, because it holds times that pass, only its title
 * is read aloud: all of it would be, again and again.
 */
export function Banner({
  level = 'info',
  ticks = false,
  title,
  children,
  actions,
}: {
  readonly level?: keyof typeof LEVELS;
  readonly ticks?: boolean;
  readonly title?: ReactNode;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) {
  const [Icon, sign, sheet] = LEVELS[level];
  const role = level === 'critical' ? 'alert' : 'status';
  return (
    <div
      role={ticks ? undefined : role}
      className={classNames('flex flex-wrap items-start gap-x-3 gap-y-2 rounded-lg border px-4 py-3', sheet)}
    >
      <Icon aria-hidden size={18} className={classNames('mt-0.5 shrink-0', sign)} />
      <div className="min-w-0 flex-1 basis-52">
        {title !== undefined && (
          <div role={ticks ? role : undefined} className="font-semibold">
            {title}
          </div>
        )}
        {children !== undefined && <div className="break-words">{children}</div>}
      </div>
      {actions !== undefined && (
        <div className="flex flex-wrap gap-2 max-sm:w-full max-sm:pl-[calc(18px+--spacing(3))]">
          {actions}
        </div>
      )}
    </div>
  );
}

/** One of several things that someone should know, in a list; for a single one there is {@link Banner}. */
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
    <li className="relative flex flex-wrap items-center gap-x-3 gap-y-1 py-2 pr-2.5 pl-4">
      <span aria-hidden className={classNames('absolute inset-y-0 left-0 w-[3px]', stripe)} />
      <Icon aria-hidden size={16} className={classNames('shrink-0', sign)} />
      <div className="min-w-0 flex-1 basis-52 py-0.5 break-words">
        <span className="sr-only">{level}: </span>
        {children}
      </div>
      {actions && (
        <div className="empty:hidden max-sm:w-full max-sm:pl-[calc(16px+--spacing(3))]">{actions}</div>
      )}
    </li>
  );
}
