import { OperationError } from '../operations/call.ts';
import { type FoundMessage, MAX_QUERY } from '../operations/search.ts';
import type { FoundPage } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { foundMessages, type QueryDeps, readQuery } from './found-mail.ts';

/** Most messages of one export. */
const EXPORT_MAX = 100_000;

/** Messages in memory at once. */
const PAGE = 200;

/** The query to export, and the format: a table, or one object a line. */
export interface ExportRequest {
  readonly query: string;
  readonly format: 'csv' | 'json';
}

/** What exporting needs. */
export type ExportDeps = QueryDeps & Pick<LocalDeps, 'views' | 'queue' | 'clock'>;

/**
 * Yields the result of a query piece by piece, the newest message first; a piece is a page. Reads the next page only on
 * demand, so none after the caller has left. The caller records the export. Throws `OperationError`.
 */
export function exportMessages(request: ExportRequest, deps: ExportDeps): AsyncIterable<string> {
  if (request.query.length > MAX_QUERY)
    throw new OperationError('invalid', `query: must have at most ${MAX_QUERY} characters.`);
  return piecesOf(request, deps);
}

async function* piecesOf(
  { query: text, format }: ExportRequest,
  deps: ExportDeps,
): AsyncGenerator<string, void, undefined> {
  const { query } = await readQuery(text, deps);
  if (format === 'csv') yield csvLine(COLUMNS.map(([name]) => name));
  let before: string | null = null;
  let left = EXPORT_MAX;
  do {
    const page: FoundPage = await deps.views.search({
      query,
      after: null,
      before,
      limit: Math.min(PAGE, left),
    });
    const messages = await foundMessages(page.messages, deps);
    if (messages.length > 0) yield messages.map(format === 'csv' ? csvOf : jsonOf).join('');
    left -= messages.length;
    before = page.next;
  } while (before !== null && left > 0);
}

function jsonOf(message: FoundMessage): string {
  return `${JSON.stringify(message)}\n`;
}

function csvOf(message: FoundMessage): string {
  return csvLine(COLUMNS.map(([, value]) => value(message)));
}

type Cell = string | number | undefined | null;

const COLUMNS: readonly (readonly [name: string, value: (message: FoundMessage) => Cell])[] = [
  ['id', ({ id }) => id],
  ['created_at', ({ createdAt }) => createdAt],
  ['status', ({ status }) => status],
  ['outcome', ({ outcome }) => outcome],
  ['from', ({ from }) => from],
  ['to', ({ to }) => to.join(', ')],
  ['cc', ({ cc }) => cc.join(', ')],
  ['bcc', ({ bcc }) => bcc.join(', ')],
  ['subject', ({ subject }) => subject],
  ['tags', ({ tags }) => tags.join(', ')],
  ['key', ({ key }) => key],
  ['relay', ({ relay }) => relay],
  ['attempts', ({ attempts }) => attempts],
  ['size_bytes', ({ sizeBytes }) => sizeBytes],
  ['message_id', ({ messageId }) => messageId],
  ['delivered_at', ({ deliveredAt }) => deliveredAt],
  ['duration_ms', ({ durationMs }) => durationMs],
  ['last_error', ({ lastError }) => lastError?.message],
];

/** Beginnings that spreadsheets take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** A line of CSV (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === undefined || cell === null ? '' : String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) || text !== cell ? `"${text.replaceAll('"', '""')}"` : text;
}
