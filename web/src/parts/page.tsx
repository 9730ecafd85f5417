import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { classNames, FILLS } from './class-names.ts';

type Back = Pick<LinkProps, 'to' | 'params' | 'search'> & { readonly label: string };

/** A page: its heading, what it is about, and what can be done there. Names the browser's tab, too. */
export function Page({
  title,
  heading,
  note,
  back,
  actions,
  narrow = false,
  wide = false,
  children,
}: {
  /** In words, for the tab and, without `heading`, the page. */
  readonly title: string;
  readonly heading?: ReactNode;
  /** One line under the heading. */
  readonly note?: ReactNode;
  /** The list that it belongs to. */
  readonly back?: Back;
  readonly actions?: ReactNode;
  /** For forms and text, which are hard to read when wide. */
  readonly narrow?: boolean;
  /** For two sheets side by side, each of which needs room. */
  readonly wide?: boolean;
  readonly children: ReactNode;
}) {
  useTitle(title);
  return (
    <div
      className={classNames(
        'mx-auto w-full px-4 pt-5 pb-16 sm:px-7 lg:pt-7',
        narrow ? 'max-w-3xl' : wide ? 'max-w-[112rem]' : 'max-w-7xl',
      )}
    >
      {back && <BackLink {...back} />}
      <header className="mb-5 flex flex-wrap items-start gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1 className="text-xl font-semibold tracking-tight break-words outline-none">
            {heading ?? title}
          </h1>
          {note !== undefined && <div className="mt-0.5 text-soft">{note}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

function BackLink({ label, ...link }: Back) {
  return (
    <Link
      {...link}
      className="mb-2 -ml-1 inline-flex items-center gap-0.5 rounded-sm text-sm text-soft hover:text-ink"
    >
      <ChevronLeft aria-hidden size={15} /> {label}
    </Link>
  );
}

/** Names the page in the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Waybill' : `${title} · Waybill`;
  }, [title]);
}

/** A sheet with a heading, as a part of a page. `flush` lets its content (a table) reach the edges. */
export function Card({
  title,
  note,
  actions,
  flush = false,
  children,
  className,
}: {
  readonly title?: ReactNode;
  /** A word on what the heading means. */
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  readonly flush?: boolean;
  readonly children: ReactNode;
  readonly className?: string;
}) {
  return (
    <section className={classNames('min-w-0 rounded-lg border border-line bg-surface', className)}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2.5">
          <div className={classNames('min-w-0 flex-1', note !== undefined && 'basis-52')}>
            <h2 className="font-semibold">{title}</h2>
            {note !== undefined && <p className="text-sm text-soft">{note}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={flush ? undefined : 'p-4'}>{children}</div>
    </section>
  );
}

/** Names and values; one that is undefined is left out. */
export type Rows = Readonly<Record<string, ReactNode>>;

/** Names and values, as the fields of a form that is filled in. One that is null shows a dash. */
export function KeyValue({
  rows,
  wide = false,
}: {
  readonly rows: Rows;
  /** Two columns where there is room. */
  readonly wide?: boolean;
}) {
  return (
    <div className="@container">
      <dl
        data-wide={wide || undefined}
        className={classNames('group grid gap-x-8', wide && '@2xl:grid-cols-2')}
      >
        {entriesOf(rows).map(([name, value]) => (
          <div
            key={name}
            className="grid grid-cols-[7rem_minmax(0,1fr)] gap-3 border-b @md:grid-cols-[11rem_minmax(0,1fr)] border-line py-1.5 last:border-b-0 @2xl:group-data-wide:nth-last-[-n+2]:border-b-0"
          >
            <dt className="text-soft">{name}</dt>
            <dd className="min-w-0 break-words">{value ?? <span className="text-faint">–</span>}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The rows that are there. */
export function entriesOf(rows: Rows): [string, ReactNode][] {
  return Object.entries(rows).filter(([, value]) => value !== undefined);
}

/** Cells of figures with hairlines between them, as on a form. */
export function StatRow({ children }: { readonly children: ReactNode }) {
  return (
    <div className="@container overflow-hidden rounded-lg border border-line bg-line">
      <div className="grid grid-cols-2 gap-px @2xl:grid-flow-col @2xl:auto-cols-fr @2xl:grid-cols-none">
        {children}
      </div>
    </div>
  );
}

/** A figure with its caption, for a {@link StatRow}. */
export function Stat({
  label,
  value,
  note,
  tone,
}: {
  readonly label: ReactNode;
  readonly value: ReactNode;
  /** What the figure is to be compared with. */
  readonly note?: ReactNode;
  readonly tone?: keyof typeof FILLS | undefined;
}) {
  return (
    <div className="relative bg-surface px-4 py-3 last:-mr-px @max-2xl:last:odd:col-span-2">
      {tone && (
        <span
          aria-hidden
          className={classNames('absolute inset-y-3 left-0 w-[3px] rounded-r-full', FILLS[tone])}
        />
      )}
      <div className="caption">{label}</div>
      <div className="mt-0.5 text-xl font-semibold tracking-tight">{value}</div>
      {note !== undefined && <div className="mt-0.5 text-xs text-soft">{note}</div>}
    </div>
  );
}
