import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import {
  type CSSProperties,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useAddress } from '../address.ts';
import { steadily } from '../connection.ts';
import { formatCount } from '../format.ts';
import { StatusBadge } from './badge.tsx';
import { Button } from './button.tsx';
import { Checkbox } from './checkbox.tsx';
import { classNames } from './class-names.ts';
import { ROW, type RowProps, type Selection, type TableColumn, TableRow } from './table-row.tsx';
import { Time } from './values.tsx';
import type { DrawRow } from './virtual-body.tsx';

/** A column of a {@link DataTable}. */
export type Column<Row> = TableColumn<Row>;

/** See {@link DataTable}. */
interface DataTableProps<Row> extends RowProps<Row> {
  /** What the rows are, read aloud. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  /** Further pages of a list that is fetched page by page. */
  readonly more?: MoreRows | undefined;
  /** Shown in the place of rows when there are none. */
  readonly empty?: ReactNode;
}

/** Whether there are further rows, and how they are fetched. */
export interface MoreRows {
  readonly has: boolean;
  readonly loading: boolean;
  /** They could not be fetched: they are not asked for again by scrolling. */
  readonly failed?: boolean;
  readonly load: () => void;
}

/** From so many rows on, and where further ones may come, only those in sight are in the document. */
const VIRTUAL_FROM = 120;
/** Lists are fetched on by scrolling up to so many rows, then by a button. */
const AUTO_LOAD_ROWS = 2_000;

/** Fetched with the first long list: it is not part of the first load. */
const VirtualBody = lazy(steadily(() => import('./virtual-body.tsx')));

/**
 * A list as a table, and as cards where it is narrow. Rows open by click, Enter, and keep to the keys `j` and `k`. Long
 * lists stay quick: only what is in sight is drawn.
 */
export function DataTable<Row>({
  label,
  columns,
  rows,
  rowId,
  rowLink,
  onOpen,
  more,
  selection,
  empty,
}: DataTableProps<Row>) {
  const { shown, orderOf, sortBy } = useSorted(rows, columns);
  // Rows that changed from one body to the other would be made anew, and lose the focus.
  const isVirtual = useEver(shown.length >= VIRTUAL_FROM || more?.has === true);
  const tracks = [
    ...(selection ? ['1.25rem'] : []),
    ...columns.map(({ width }) => width ?? 'minmax(0, 1fr)'),
  ].join(' ');
  if (rows.length === 0 && empty !== undefined) return empty;
  const draw: DrawRow = (index, offset, measure) => {
    const row = shown[index];
    if (row === undefined) return null;
    const id = rowId(row);
    // Nothing that changes with other rows, or each of them would be drawn again when further ones come.
    const same: RowProps<Row> = { columns, onOpen, selection, ...(rowLink && { rowLink }) };
    const isLast = index === shown.length - 1;
    const place = { index, isLast, offset, measure };
    return <TableRow key={id} {...same} {...place} row={row} id={id} />;
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
          orderOf={orderOf}
          sortBy={sortBy}
          selection={selection && <SelectAll selection={selection} ids={shown.map(rowId)} />}
        />
        {!isVirtual ? (
          plain(shown.length)
        ) : (
          <Suspense fallback={plain(VIRTUAL_FROM)}>
            <VirtualBody
              count={shown.length}
              idOf={(index) =>
                shown
                  .slice(index, index + 1)
                  .map(rowId)
                  .join('')
              }
              draw={draw}
            />
          </Suspense>
        )}
      </table>
      {more?.has && <LoadMore more={more} auto={shown.length < AUTO_LOAD_ROWS && !more.failed} />}
    </div>
  );
}

/** Whether something is so, or once was. */
function useEver(isSo: boolean): boolean {
  const [was, setWas] = useState(isSo);
  if (isSo && !was) setWas(true);
  return was || isSo;
}

type Order = 'ascending' | 'descending';

/** How an address says by which column a table is sorted: by its header, behind a minus the other way round. */
function readOrder(written: string | undefined): { readonly header: string; readonly order: Order } | null {
  if (written === undefined) return null;
  return written.startsWith('-')
    ? { header: written.slice(1), order: 'descending' }
    : { header: written, order: 'ascending' };
}

function writeOrder(header: string, order: Order): string {
  return order === 'descending' ? `-${header}` : header;
}

/** Rows as readers sort them, which the address says: by a column, the other way round, and as they came. Words begin with the first, figures with the largest. */
function useSorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[]) {
  const [{ sort: written }, put] = useAddress();
  const by = useMemo(() => readOrder(written), [written]);
  const read = columns.find(({ header }) => header === by?.header)?.sort;
  const shown = useMemo(() => {
    if (!read) return rows;
    const sign = by?.order === 'descending' ? -1 : 1;
    return rows.toSorted((one, other) => {
      const [first, second] = [read(one), read(other)];
      if (first === second) return 0;
      return first > second ? sign : -sign;
    });
  }, [rows, read, by]);
  const orderOf = (header: string) => (by?.header === header ? by.order : undefined);
  const sortBy = ({ header, sort }: Column<Row>) => {
    const [sample] = rows;
    const areWords = sample !== undefined && typeof sort?.(sample) === 'string';
    const [first, second]: readonly Order[] = areWords
      ? ['ascending', 'descending']
      : ['descending', 'ascending'];
    const order = orderOf(header);
    const next = order === undefined ? first : order === first ? second : undefined;
    put({ sort: next === undefined ? undefined : writeOrder(header, next) });
  };
  return { shown, orderOf, sortBy };
}

function Head<Row>({
  columns,
  orderOf,
  sortBy,
  selection,
}: Pick<DataTableProps<Row>, 'columns'> &
  Pick<ReturnType<typeof useSorted<Row>>, 'orderOf' | 'sortBy'> & { readonly selection: ReactNode }) {
  return (
    <thead className="sticky top-(--top-bar) z-10 block rounded-t-lg border-b border-line bg-surface @max-[42rem]:not-focus-within:sr-only">
      <tr className={classNames(ROW, 'min-h-9 @max-[42rem]:py-1.5')}>
        {selection && <th scope="col">{selection}</th>}
        {columns.map((column) => {
          const { header, headerHidden, sort, align } = column;
          const order = orderOf(header);
          return (
            <th
              key={header}
              scope="col"
              aria-sort={order}
              className={classNames('caption min-w-0 text-left', align === 'end' && 'text-right')}
            >
              {sort ? (
                <button
                  type="button"
                  onClick={() => sortBy(column)}
                  className={classNames(
                    'group inline-flex items-center gap-1 rounded-sm align-top hover:text-ink',
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

function SortSign({ order }: { readonly order: Order | undefined }) {
  if (order === 'ascending') return <ArrowUp aria-hidden size={12} />;
  if (order === 'descending') return <ArrowDown aria-hidden size={12} />;
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

function LoadMore({ more, auto }: { readonly more: MoreRows; readonly auto: boolean }) {
  const { loading, load } = more;
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!auto || loading || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load(), {
      rootMargin: '300px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [auto, loading, load]);
  return (
    <div ref={end} className="border-t border-line">
      <MoreButton {...more} />
    </div>
  );
}

/** Fetches further rows. */
export function MoreButton({ loading, load }: MoreRows) {
  return (
    <div className="flex justify-center p-3">
      <Button
        small
        look="quiet"
        label={loading ? 'Loading more' : 'Load more'}
        busy={loading}
        onClick={load}
      />
    </div>
  );
}

/** Columns that many tables have. Where a table can be sorted by one, it says `sorts`. */
interface Head<Row> extends Omit<TableColumn<Row>, 'cell' | 'sort' | 'headerHidden'> {
  readonly sorts?: boolean;
}

/** Any values of one kind, drawn alike, and a word for where there is none. */
export function column<Row, Value extends string | number>(
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

/** Words as machines write them: names, addresses. */
export function codeColumn<Row>(
  head: Head<Row>,
  code: (row: Row) => string | null,
  none?: string,
): TableColumn<Row> {
  return column(head, code, (value) => <code className="font-mono text-sm break-all">{value}</code>, none);
}

/** States, in their colours. */
export function statusColumn<Row>(head: Head<Row>, status: (row: Row) => string): TableColumn<Row> {
  return column(head, status, (value) => <StatusBadge status={value} />);
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
export function actsColumn<Row>(width: string, draw: (row: Row) => ReactNode): TableColumn<Row> {
  return {
    header: 'Actions',
    headerHidden: true,
    width,
    align: 'end',
    card: 'aside',
    cell: (row) => <span className="relative z-1 inline-flex items-center gap-1">{draw(row)}</span>,
  };
}
