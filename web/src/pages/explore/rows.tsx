import { linkOptions } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { formatCount, formatRate, formatWithin } from '../../format.ts';
import { classNames, FILLS } from '../../parts/class-names.ts';
import { type Column, column, countColumn, DataTable } from '../../parts/data-table.tsx';
import { LeftOut } from '../../parts/left-out.tsx';
import { Card } from '../../parts/page.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { Segments } from '../../parts/toolbar.tsx';
import { Said } from '../../parts/values.tsx';
import {
  DIMENSIONS,
  type Dimension,
  narrowedTo,
  rangeIn,
  type TrafficRow,
  type TrafficSummary,
} from './narrowing.ts';

/** What became of mail, by one dimension. A row opens the page for its mail alone. */
export function Rows({ view, by }: { readonly view: ResultOf<'traffic'>; readonly by: Dimension }) {
  const [address, put] = useAddress();
  const { rows, others, moreNames } = view;
  const most = Math.max(1, ...rows.map(endedOf));
  const columns = useMemo(() => columnsBy(by, most), [by, most]);
  const range = rangeIn(address).value;
  return (
    <Card flush title={`By ${labelOf(by)}`} note="Recipients. Choose a row to see its mail alone.">
      <div className="overflow-x-auto border-b border-line px-4 py-2 [scrollbar-width:none]">
        <Segments
          label="By"
          choices={DIMENSIONS}
          value={by}
          onChange={(next) => put({ rows: next === 'relay' ? undefined : next })}
        />
      </div>
      <DataTable
        label={`Mail by ${labelOf(by)}`}
        columns={columns}
        rows={rows}
        rowId={({ name }) => name}
        rowLink={({ name }) => {
          const { by: next, ...narrowed } = narrowedTo(address, by, name);
          return linkOptions({
            to: '/explore',
            search: { ...narrowed, range: range === 'day' ? undefined : range, rows: next },
          });
        }}
        empty={<EmptyState title="No mail in this time">Nothing of it was counted.</EmptyState>}
      />
      <LeftOut names={moreNames} noun={labelOf(by)} recipients={others === null ? 0 : endedOf(others)} />
    </Card>
  );
}

/** What the names of the rows are, within a sentence. */
function labelOf(by: Dimension): string {
  return by === 'key' ? 'API key' : (DIMENSIONS.find(({ value }) => value === by)?.label ?? by).toLowerCase();
}

/** Recipients by their end. One whose mail came back has failed, though it was delivered before. */
function endsOf({ delivered, bounced, captured, failed }: TrafficSummary) {
  return { delivered: Math.max(0, delivered - bounced), captured, failed };
}

function endedOf(summary: TrafficSummary): number {
  const { delivered, captured, failed } = endsOf(summary);
  return delivered + captured + failed;
}

function columnsBy(by: Dimension, most: number): readonly Column<TrafficRow>[] {
  const none = DIMENSIONS.find(({ value }) => value === by)?.none ?? '–';
  const nameOf = ({ name, label }: TrafficRow) => label ?? name;
  return [
    {
      header: DIMENSIONS.find(({ value }) => value === by)?.label ?? by,
      width: 'minmax(0, 1.5fr)',
      sort: nameOf,
      cell: (row) => <Said text={nameOf(row)} none={none} className="min-w-0 font-medium" />,
    },
    {
      header: 'Ended',
      width: 'minmax(0, 1.7fr)',
      card: 'plain',
      sort: endedOf,
      cell: (row) => <Ends row={row} most={most} />,
    },
    column(
      { header: 'Success', width: '5.5rem', align: 'end', sorts: true },
      ({ success }) => success,
      (success: number) => formatRate(success),
    ),
    column(
      { header: 'Half within', width: '6rem', align: 'end', sorts: true },
      ({ p50Ms }) => p50Ms,
      (ms: number) => formatWithin(ms),
    ),
    column(
      { header: '95 % within', width: '6.5rem', align: 'end', sorts: true },
      ({ p95Ms }) => p95Ms,
      (ms: number) => formatWithin(ms),
    ),
    countColumn({ header: 'Deferred', width: '5.5rem', sorts: true }, ({ deferred }) => deferred),
    countColumn({ header: 'Bounced', width: '5.5rem', sorts: true }, ({ bounced }) => bounced),
    countColumn({ header: 'Called spam', width: '6.5rem', sorts: true }, ({ complained }) => complained),
  ];
}

const PARTS = ['delivered', 'captured', 'failed'] as const;

/**
 * A bar that shows how many were delivered, captured and failed: it is full in the row with the most. Where there is room,
 * a line shows when; it reaches the top at the row's own most.
 */
function Ends({ row, most }: { readonly row: TrafficRow; readonly most: number }) {
  const ends = endsOf(row);
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span aria-hidden className="flex h-2 min-w-12 flex-1 gap-px overflow-hidden rounded-xs bg-sunken">
        {PARTS.map(
          (part) =>
            ends[part] > 0 && (
              <span
                key={part}
                className={classNames('h-full', FILLS[part])}
                style={{ width: `max(2px, ${(ends[part] / most) * 100}%)` }}
              />
            ),
        )}
      </span>
      <span
        className="w-14 shrink-0 text-right"
        title={PARTS.map((part) => `${part} ${ends[part]}`).join(', ')}
      >
        {formatCount(endedOf(row))}
      </span>
      {row.ended.length > 0 && (
        <Sparkline
          label={`over time, ${formatCount(Math.min(...row.ended))} to ${formatCount(Math.max(...row.ended))} at once`}
          lines={[{ color: 'all', values: row.ended }]}
          className="ml-1 hidden h-5 w-20 shrink-0 @max-[42rem]:block @min-[60rem]:block"
        />
      )}
    </span>
  );
}
