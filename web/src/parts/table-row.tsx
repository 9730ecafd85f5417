import { memo, type ReactNode } from 'react';
import { Checkbox } from './checkbox.tsx';
import { classNames } from './class-names.ts';
import { RowLink, type RowTarget } from './row-link.tsx';

/** A column of a table. */
export interface TableColumn<Row> {
  readonly id: string;
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
interface RowProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly rowLink?: (row: Row) => RowTarget;
  readonly onOpen?: (row: Row) => void;
  readonly selection?: Selection;
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
  /** Of a long table: where it stands, in pixels below the head. */
  readonly offset?: number;
  readonly measure?: (element: HTMLElement | null) => void;
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
        "relative border-b border-line py-2.5 -outline-offset-2 last:border-b-0 @max-[42rem]:before:order-3 @max-[42rem]:before:basis-full @max-[42rem]:before:content-[''] @min-[42rem]:min-h-11 @min-[42rem]:py-1.5",
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
            key={column.id}
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

function SelectOne({ selection: { selected, onChange }, id }: { selection: Selection; id: string }) {
  return (
    <Checkbox
      label={`Select ${id}`}
      checked={selected.has(id)}
      onChange={(checked) => {
        const next = new Set(selected);
        if (checked) next.add(id);
        else next.delete(id);
        onChange(next);
      }}
    />
  );
}
