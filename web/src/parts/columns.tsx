import type { ReactNode } from 'react';
import { formatCount } from '../format.ts';
import type { TableColumn } from './table-row.tsx';
import { Time } from './values.tsx';

/** Columns that many tables have. Where a table can be sorted by one, it says `sorts`. */
interface Head<Row> extends Omit<TableColumn<Row>, 'cell' | 'sort' | 'headerHidden'> {
  readonly sorts?: boolean;
}

function column<Row, Value extends string | number>(
  { sorts = false, ...head }: Head<Row>,
  read: (row: Row) => Value | null,
  draw: (value: Value) => ReactNode,
  none = '–',
): TableColumn<Row> {
  return {
    ...head,
    ...(sorts && { sort: (row) => read(row) ?? '' }),
    cell: (row) => {
      const value = read(row);
      return value === null ? <span className="text-faint">{none}</span> : draw(value);
    },
  };
}

/** Moments, and a word for where there is none. */
export function timeColumn<Row>(
  head: Head<Row>,
  at: (row: Row) => string | null,
  none?: string,
): TableColumn<Row> {
  return column(head, at, (value) => <Time at={value} />, none);
}

/** Counts, at the right edge. */
export function countColumn<Row>(head: Head<Row>, count: (row: Row) => number): TableColumn<Row> {
  return column({ align: 'end', ...head }, count, formatCount);
}

/** What can be done with a row, above the link that spans it. */
export function actsColumn<Row>(
  width: string,
  draw: (row: Row) => ReactNode,
  header = 'Actions',
): TableColumn<Row> {
  return {
    header,
    headerHidden: header === 'Actions',
    width,
    align: 'end',
    card: 'aside',
    cell: (row) => <span className="relative z-1 inline-flex items-center gap-1">{draw(row)}</span>,
  };
}
