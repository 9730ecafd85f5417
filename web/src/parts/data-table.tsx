import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import { type CSSProperties, lazy, type ReactNode, Suspense, useEffect, useMemo, useRef } from 'react';
import { Button } from './button.tsx';
import { Checkbox } from './checkbox.tsx';
import { classNames } from './class-names.ts';
import type { RowTarget } from './row-link.tsx';
import { ROW, type Selection, type TableColumn, TableRow } from './table-row.tsx';
import type { DrawRow } from './virtual-body.tsx';

/** A column of a {@link DataTable}. */
export type Column<Row> = TableColumn<Row>;

/** See {@link DataTable}. */
interface DataTableProps<Row> {
  /** What the rows are, read aloud. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  /** The page that a row opens, as from `linkOptions`. */
  readonly rowLink?: (row: Row) => RowTarget;
  /** Or what a row does when it is opened here. */
  readonly onOpen?: (row: Row) => void;
  /** Further pages of a list that is fetched page by page. */
  readonly more?: { readonly has: boolean; readonly loading: boolean; readonly load: () => void };
  /** Rows that are ticked, to act on together. */
  readonly selection?: Selection;
  /** Shown in the place of rows when there are none. */
  readonly empty?: ReactNode;
}

/** From so many rows on, only those in sight are in the document. */
const VIRTUAL_FROM = 120;
/** Lists are fetched on by scrolling up to so many rows, then by a button. */
const AUTO_LOAD_ROWS = 2_000;

/** Fetched with the first long list: it is not part of the first load. */
const VirtualBody = lazy(() => import('./virtual-body.tsx'));

/** What the table holds: a row of any kind. */
type Held<Row> = { readonly row: Row };

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic },
});

/**
 * A list as a table, and as cards where it is narrow. Rows open by click, Enter, and keep to the keys `j` and `k`. Long
 * lists stay quick: only what is in sight is drawn.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowId, more, selection, empty } = props;
  const definitions = useMemo(
    () =>
      columns.map(
        ({ id, header, sort }): ColumnDef<typeof features, Held<Row>> => ({
          id,
          header,
          accessorFn: ({ row }) => sort?.(row) ?? '',
          enableSorting: sort !== undefined,
          sortFn: 'basic',
        }),
      ),
    [columns],
  );
  const data = useMemo(() => rows.map((row): Held<Row> => ({ row })), [rows]);
  const table = useTable({ features, columns: definitions, data, getRowId: ({ row }) => rowId(row) });
  const shown = table.getRowModel().rows;
  const tracks = [
    ...(selection ? ['1.25rem'] : []),
    ...columns.map(({ width }) => width ?? 'minmax(0, 1fr)'),
  ].join(' ');
  if (rows.length === 0 && empty !== undefined) return empty;
  const draw: DrawRow = (index, offset, measure) => {
    const row = shown[index];
    if (!row) return null;
    return (
      <TableRow
        key={row.id}
        {...props}
        row={row.original.row}
        id={row.id}
        index={index}
        {...(offset !== undefined && { offset })}
        {...(measure && { measure })}
      />
    );
  };
  const plain = (count: number) => (
    <tbody data-list className="relative block">
      {shown.slice(0, count).map((_, index) => draw(index))}
    </tbody>
  );
  return (
    <div className="@container min-w-0">
      <table
        aria-label={label}
        aria-rowcount={more?.has ? -1 : shown.length + 1}
        className="block"
        style={{ '--tracks': tracks } as CSSProperties}
      >
        <Head
          columns={columns}
          sorted={(id) => table.getColumn(id)?.getIsSorted() ?? false}
          onSort={(id) => table.getColumn(id)?.toggleSorting()}
          selection={selection && <SelectAll selection={selection} ids={shown.map(({ id }) => id)} />}
        />
        {shown.length < VIRTUAL_FROM ? (
          plain(shown.length)
        ) : (
          <Suspense fallback={plain(VIRTUAL_FROM)}>
            <VirtualBody count={shown.length} idOf={(index) => shown[index]?.id ?? ''} draw={draw} />
          </Suspense>
        )}
      </table>
      {more?.has && <LoadMore {...more} rows={shown.length} />}
    </div>
  );
}

function Head<Row>({
  columns,
  sorted,
  onSort,
  selection,
}: {
  readonly columns: readonly Column<Row>[];
  readonly sorted: (id: string) => false | 'asc' | 'desc';
  readonly onSort: (id: string) => void;
  readonly selection: ReactNode;
}) {
  return (
    <thead className="sticky top-(--top-bar) z-10 block rounded-t-lg border-b border-line bg-surface @max-[42rem]:sr-only">
      <tr className={classNames(ROW, 'min-h-9')}>
        {selection && <th scope="col">{selection}</th>}
        {columns.map(({ id, header, headerHidden, sort, align }) => {
          const order = sorted(id);
          return (
            <th
              key={id}
              scope="col"
              aria-sort={order === false ? undefined : order === 'asc' ? 'ascending' : 'descending'}
              className={classNames('caption min-w-0 text-left', align === 'end' && 'text-right')}
            >
              {sort ? (
                <button
                  type="button"
                  onClick={() => onSort(id)}
                  className={classNames(
                    'group inline-flex items-center gap-1 rounded-sm hover:text-ink',
                    align === 'end' && 'flex-row-reverse',
                  )}
                >
                  {header}
                  <SortSign order={order} />
                </button>
              ) : (
                <span className={headerHidden ? 'sr-only' : undefined}>{header}</span>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function SortSign({ order }: { readonly order: false | 'asc' | 'desc' }) {
  if (order === 'asc') return <ArrowUp aria-hidden size={12} />;
  if (order === 'desc') return <ArrowDown aria-hidden size={12} />;
  return (
    <ChevronsUpDown
      aria-hidden
      size={12}
      className="opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100"
    />
  );
}

function SelectAll({
  selection: { selected, onChange },
  ids,
}: {
  selection: Selection;
  ids: readonly string[];
}) {
  const all = ids.length > 0 && ids.every((id) => selected.has(id));
  return (
    <Checkbox
      label="Select all that are shown"
      checked={all}
      mixed={!all && selected.size > 0}
      onChange={(checked) => onChange(new Set(checked ? ids : []))}
    />
  );
}

function LoadMore({
  loading,
  load,
  rows,
}: {
  readonly loading: boolean;
  readonly load: () => void;
  readonly rows: number;
}) {
  const end = useRef<HTMLDivElement>(null);
  const auto = rows < AUTO_LOAD_ROWS && !loading;
  useEffect(() => {
    if (!auto || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load(), {
      rootMargin: '300px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [auto, load]);
  return (
    <div ref={end} className="flex justify-center border-t border-line p-3">
      <Button small look="quiet" busy={loading} onClick={load}>
        {loading ? 'Loading more' : 'Load more'}
      </Button>
    </div>
  );
}

/** Lifts buttons and links of a cell above the link that spans the row. */
export function CellActions({ children }: { readonly children: ReactNode }) {
  return <span className="relative z-1 inline-flex items-center gap-1">{children}</span>;
}
