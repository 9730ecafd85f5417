import { Link, type LinkProps } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { Checkbox } from './checkbox.tsx';
import { classNames } from './class-names.ts';

/** A column of a table. */
export interface TableColumn<Row> {
  /** What it holds; no other column of the table says the same. */
  readonly header: string;
  /** The header is read aloud alone: what stands below says by itself what it is, such as buttons. */
  readonly headerHidden?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** A track of a CSS grid; `minmax(0, 1fr)` when left out. */
  readonly width?: string;
  readonly align?: 'end';
  /** Lets readers sort by it; only for lists that are fetched whole. */
  readonly sort?: (row: Row) => string | number;
  /**
   * Where it stands when there is no room for a table: `title` (the first column, else), `aside` right of the title,
   * `line` below with its name (the others, else), `figure` the same beside others (those with `align: 'end'`, else),
   * `plain` below without its name, `hidden`.
   */
  readonly card?: 'title' | 'aside' | 'line' | 'figure' | 'plain' | 'hidden';
}

/** Rows that are ticked, by their ids. */
export interface Selection {
  readonly selected: ReadonlySet<string>;
  readonly onChange: (selected: ReadonlySet<string>) => void;
}

/** What every row of a table is drawn by. */
export interface RowProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  /** The page that a row opens, as from `linkOptions`. */
  readonly rowLink?: (row: Row) => RowTarget;
  /** Or what a row does when it is opened here. */
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** Rows that are ticked, to act on together. */
  readonly selection?: Selection | undefined;
}

/** How a row lays out its cells: along the tracks of the table, or, where it is narrow, as a card. */
export const ROW =
  'flex flex-wrap items-center gap-x-4 gap-y-0.5 px-4 @min-[42rem]:grid @min-[42rem]:grid-cols-(--tracks)';

const CARD_PLACES = {
  title: '@max-[42rem]:order-1 @max-[42rem]:flex-1 @max-[42rem]:basis-1/2 @max-[42rem]:font-medium',
  aside: '@max-[42rem]:order-2 @max-[42rem]:max-w-1/2 @max-[42rem]:text-right',
  line: '@max-[42rem]:order-4 @max-[42rem]:flex @max-[42rem]:basis-full @max-[42rem]:gap-2 @max-[42rem]:text-sm',
  plain: '@max-[42rem]:order-4 @max-[42rem]:basis-full @max-[42rem]:text-sm',
  figure: '@max-[42rem]:order-5 @max-[42rem]:flex @max-[42rem]:gap-1.5 @max-[42rem]:text-sm',
  hidden: '@max-[42rem]:hidden',
};

/** A row, as one of a table or as a card. While a long table scrolls, rows that stay are not drawn again. */
export const TableRow = memo(RowOf) as typeof RowOf;

function RowOf<Row>({
  row,
  id,
  index,
  isLast,
  columns,
  rowLink,
  onOpen,
  selection,
  offset,
  measure,
}: RowProps<Row> & {
  readonly row: Row;
  readonly id: string;
  readonly index: number;
  /** Asked of the list: a selector for the last row would have rows styled twice as they scroll into sight. */
  readonly isLast: boolean;
  /** Of a long table: where it stands, in pixels below the head. */
  readonly offset: number | undefined;
  readonly measure: ((element: HTMLElement | null) => void) | undefined;
}) {
  const isSelected = selection?.selected.has(id) ?? false;
  const opens = rowLink !== undefined || onOpen !== undefined;
  return (
    <tr
      ref={measure}
      data-index={index}
      data-row={opens ? undefined : ''}
      tabIndex={opens ? undefined : -1}
      aria-rowindex={index + 2}
      style={
        offset === undefined
          ? undefined
          : { position: 'absolute', insetInline: 0, top: 0, transform: `translateY(${offset}px)` }
      }
      className={classNames(
        ROW,
        "relative border-line py-2.5 -outline-offset-2 @max-[42rem]:before:order-3 @max-[42rem]:before:basis-full @max-[42rem]:before:content-[''] @min-[42rem]:min-h-11 @min-[42rem]:py-1.5",
        !isLast && 'border-b',
        opens && 'hover:bg-sunken/60',
        isSelected && 'bg-accent-soft/70',
      )}
    >
      {selection && (
        <td className="relative z-1 @max-[42rem]:hidden">
          <SelectOne selection={selection} id={id} />
        </td>
      )}
      {columns.map((column, position) => {
        const card = column.card ?? defaultCard(column.align, position);
        const content = column.cell(row);
        return (
          <td
            key={column.header}
            className={classNames(
              'min-w-0',
              CARD_PLACES[card],
              column.align === 'end' && '@min-[42rem]:text-right',
            )}
          >
            {(card === 'line' || card === 'figure') && (
              <span className="caption shrink-0 @min-[42rem]:hidden">{column.header}</span>
            )}
            {position === 0 ? (
              <RowLink target={rowLink?.(row)} onOpen={onOpen && (() => onOpen(row))}>
                {content}
              </RowLink>
            ) : (
              content
            )}
          </td>
        );
      })}
    </tr>
  );
}

function defaultCard(align: 'end' | undefined, position: number): keyof typeof CARD_PLACES {
  if (position === 0) return 'title';
  return align === 'end' ? 'figure' : 'line';
}

/** Ticks one of several. */
export function SelectOne({
  selection: { selected, onChange },
  id,
  label = `Select ${id}`,
}: {
  readonly selection: Selection;
  readonly id: string;
  readonly label?: string;
}) {
  return (
    <Checkbox label={label} checked={selected.has(id)} onChange={() => onChange(toggled(selected, id))} />
  );
}

/** A selection with one more, or without it where it was in it. */
export function toggled(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Where a row leads, as from `linkOptions({ to, params, search })`. */
export type RowTarget = Pick<LinkProps, 'to' | 'params' | 'search'>;

/** What opens a row spans it: the look of its focus, and where it is pressed. */
export const SPANS_ROW =
  "min-w-0 text-left after:absolute after:inset-0 after:content-[''] focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent";

/** What opens a row: a link, or a button, that spans all of it. */
function RowLink({
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
