import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Where a row leads, as from `linkOptions({ to, params, search })`. */
export type RowTarget = Pick<LinkProps, 'to' | 'params' | 'search'>;

const SPANS_ROW =
  "min-w-0 text-left after:absolute after:inset-0 after:content-[''] focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent";

/** What opens a row: a link, or a button, that spans all of it. */
export function RowLink({
  target,
  onOpen,
  children,
}: {
  readonly target: RowTarget | undefined;
  readonly onOpen: (() => void) | undefined;
  readonly children: ReactNode;
}) {
  if (target)
    return (
      <Link {...target} data-row="" className={`block ${SPANS_ROW}`}>
        {children}
      </Link>
    );
  if (onOpen)
    return (
      <button type="button" data-row="" onClick={onOpen} className={`block w-full ${SPANS_ROW}`}>
        {children}
      </button>
    );
  return children;
}
