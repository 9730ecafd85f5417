import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { classNames } from './class-names.ts';

type Back = Pick<LinkProps, 'to' | 'params' | 'search'> & { readonly label: string };

/** A page: its heading, what it is about, and what can be done there. Names the browser's tab, too. */
export function Page({
  title,
  heading,
  note,
  back,
  actions,
  narrow = false,
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
  readonly children: ReactNode;
}) {
  useTitle(title);
  return (
    <div
      className={classNames(
        'mx-auto w-full px-4 pt-5 pb-16 sm:px-7 lg:pt-7',
        narrow ? 'max-w-3xl' : 'max-w-7xl',
      )}
    >
      {back && <BackLink {...back} />}
      <header className="mb-5 flex flex-wrap items-start gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1 className="text-xl font-semibold tracking-tight break-words">{heading ?? title}</h1>
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
