import { isRecord } from '../config/kinds.ts';
import { feedbackText } from '../domain/feedback.ts';
import { type Evidence, SUPPRESSION_REASONS, type SuppressionReason } from '../domain/suppression.ts';
import { Problem } from '../http/problem.ts';
import { parseTimestamp } from '../lib/clock.ts';
import { decodeJson } from '../lib/decode.ts';
import { OperationError } from '../operations/call.ts';

/**
 * Tables of suppressed addresses: our own columns, and those of providers' exports (docs/suppressions.md). Case, blanks,
 * `_` and `-` in their names do not matter.
 */

/** Most rows of a table. */
const MAX_ROWS = 100_000;

/** A row as it was written. */
export interface ImportRow {
  readonly line: number;
  /** Of what its list is, if the columns say so. */
  readonly list: SuppressionReason | null;
  /** Texts by our names of columns. */
  readonly fields: Readonly<Partial<Record<Column, string>>>;
}

/** Names of columns in their normal form, by what they mean. */
// biome-ignore format: a table
const COLUMNS = {
  address:   ['address', 'email', 'emailaddress', 'recipient', 'recipientaddress', 'emailaddr', 'mail'],
  scope:     ['scope'],
  stream:    ['stream', 'messagestream', 'topicname'],
  reason:    ['reason', 'suppressionreason', 'bouncetype', 'type', 'suppressiontype'],
  origin:    ['origin'],
  note:      ['note', 'description', 'comment'],
  text:      ['text', 'error', 'bouncereason', 'details', 'diagnosticcode'],
  expiresAt: ['expiresat', 'expires'],
  at:        ['createdat', 'created', 'lastupdatetime'],
  code:      ['code'],
  status:    ['status'],
  tags:      ['tags'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Column = keyof typeof COLUMNS;

const BY_NAME = new Map(
  Object.entries(COLUMNS).flatMap(([column, names]) =>
    names.map((name) => [name as string, column as Column]),
  ),
);

const normal = (name: string) => name.toLowerCase().replaceAll(/[\s_-]/g, '');
const columnOf = (name: string) => BY_NAME.get(normal(name)) ?? null;

/** Lists of providers that say only by their columns what they are lists of. */
// biome-ignore format: a table
const LISTS: ReadonlyMap<string, SuppressionReason> = new Map([
  ['created email ip', 'complaint'],                          // SendGrid: spam reports
  ['created email', 'unsubscribe'],                           // SendGrid: unsubscribes, from all mail or a group
  ['address code createdat error', 'hard_bounce'],            // Mailgun: bounces
  ['address code createdat error messagehash', 'hard_bounce'],
  ['address createdat', 'complaint'],                         // Mailgun: complaints
  ['address createdat tags', 'unsubscribe'],                  // Mailgun: unsubscribes
]);

const listOf = (names: readonly string[]) => LISTS.get(names.map(normal).sort().join(' ')) ?? null;

/** What others call our reasons, in the normal form of names of columns. */
// biome-ignore format: a table
const REASONS: ReadonlyMap<string, SuppressionReason> = new Map([
  ...SUPPRESSION_REASONS.map((reason) => [reason.replaceAll('_', ''), reason] as const),
  ...(['bounce', 'bounced', 'hard', 'hardbounced', 'permanent', 'invalid', 'bademailaddress', 'general'] as const).map((name) => [name, 'hard_bounce'] as const),
  ...(['spamcomplaint', 'complained', 'spam', 'spamreport', 'abuse'] as const).map((name) => [name, 'complaint'] as const),
  ...(['unsubscribed', 'optout'] as const).map((name) => [name, 'unsubscribe'] as const),
  ...(['soft', 'softbounce', 'transient'] as const).map((name) => [name, 'soft_bounces'] as const),
]);

/** Null: none that is known, but perhaps words of a provider. */
export function reasonOf({ reason, origin = '' }: ImportRow['fields']): SuppressionReason | null {
  // Resend has no other column for it.
  const name = normal(reason ?? origin);
  // Postmark: by the recipient, or by its customer.
  if (name === 'manualsuppression') return normal(origin) === 'recipient' ? 'unsubscribe' : 'manual';
  return REASONS.get(name) ?? null;
}

/** RFC 3463 §3.2: the address is bad. SendGrid's blocks have other codes. */
const BAD_ADDRESS = /^5\.1\.\d{1,3}$/;
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3}$/;
const REPLY_CODE = /^[2-5]\d\d$/;

/** What a row's code says where nothing else does. */
export function guessedOf({ status = '' }: ImportRow['fields']): SuppressionReason {
  return BAD_ADDRESS.test(status) ? 'hard_bounce' : 'import';
}

/** What a row tells of the time before its entry; null where it has no time, or one that cannot be. */
export function evidenceOf(
  { at: written = '', code = '', status = '' }: ImportRow['fields'],
  text: string,
  now: number,
): Evidence | null {
  const at = timeOf(written);
  if (at === null || !(at >= EARLIEST && at <= now)) return null;
  return {
    messageId: null,
    at,
    code: REPLY_CODE.test(code) ? Number(code) : null,
    enhancedCode: ENHANCED.test(status) ? status : null,
    text: feedbackText(text),
  };
}

/** Nobody's list is older; Mailgun writes the year 1 where it does not know. */
const EARLIEST = Date.UTC(2000, 0);
const SECONDS = /^\d{9,10}(?:\.\d{1,9})?$/;
/** RFC 5322 §3.3, and with the name of its zone; the year 1 would be read as 2001. */
const DATE = /^(?:[a-z]{3}, )?\d{1,2} [a-z]{3} [12]\d{3} \d\d:\d\d:\d\d (?:UTC|GMT|[+-]\d{4})$/i;

/** Seconds of the epoch (SendGrid, AWS), RFC 3339 and nearly that, or RFC 5322 (Mailgun). */
function timeOf(text: string): number | null {
  if (SECONDS.test(text)) return Math.floor(Number(text) * 1000);
  if (DATE.test(text)) return Date.parse(text);
  const time = text.replace(' ', 'T').replace(/[+-]\d\d$/, '$&:00');
  return parseTimestamp(time) ?? parseTimestamp(`${time}Z`);
}

/** Throws `OperationError` for what is no table. */
export async function rowsOfCsv(text: string): Promise<ImportRow[]> {
  // Only here: a server that imports nothing starts without it.
  const { CsvError, readCsv } = await import('./csv.ts');
  const rows: ImportRow[] = [];
  let columns: readonly (Column | null)[] | null = null;
  let list: SuppressionReason | null = null;
  try {
    for await (const { line, cells } of readCsv(text)) {
      const isHeader: boolean = columns === null && !isOfSes(cells);
      if (isHeader) list = listOf(cells);
      columns ??= isHeader ? columnsOf(cells) : OF_SES;
      if (!isHeader)
        rows.push({ line, list, fields: fieldsOf(columns.map((column, place) => [column, cells[place]])) });
      if (rows.length > MAX_ROWS) throw tooManyRows();
    }
  } catch (error) {
    if (error instanceof CsvError) throw unreadable(`It is not CSV: ${error.message}`);
    throw error;
  }
  if (columns === null) throw unreadable(NO_HEADER);
  return rows;
}

/** Files of SES's import jobs have no header. */
const OF_SES = ['address', 'reason'] as const;

function isOfSes([address = '', reason = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && address.includes('@') && /^(?:BOUNCE|COMPLAINT)$/.test(reason);
}

const NO_HEADER = 'Its first line must name the columns, one of them address or email.';

function columnsOf(header: readonly string[]): readonly (Column | null)[] {
  const columns = header.map(columnOf);
  if (columns.includes('address')) return columns;
  throw unreadable(NO_HEADER);
}

/** Throws `OperationError` for what is no list. */
export function rowsOfJson(text: string): ImportRow[] {
  const list = valuesOf(text).flatMap((value) => {
    const items = itemsOf(value);
    if (items === null) throw unreadable('It must be a list of entries, or an object that has one.');
    return items;
  });
  if (list.length > MAX_ROWS) throw tooManyRows();
  return list.map((item: unknown, place) => {
    const entries = isRecord(item) ? Object.entries(item) : [['address', item] as const];
    return {
      line: place + 1,
      list: listOf(entries.map(([name]) => name)),
      fields: fieldsOf(entries.map(([name, field]) => [columnOf(name), field])),
    };
  });
}

/** One value, or one a line, such as answers of which each has a page. */
function valuesOf(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const values = lines.length > 1 ? lines.map(decodeJson) : [null];
    if (!values.includes(null)) return values;
    throw unreadable(`It is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The entries of a list or of an object that has one, or the one that it is; null if it is neither. */
function itemsOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (!isRecord(value)) return null;
  if (Object.keys(value).some((name) => columnOf(name) === 'address')) return [value];
  return Object.values(value).find(Array.isArray) ?? null;
}

/** Of several columns that mean the same the first counts; empty ones do not. */
function fieldsOf(cells: readonly (readonly [Column | null, unknown])[]): ImportRow['fields'] {
  const fields: Partial<Record<Column, string>> = {};
  // Beside a note, a text and a time are others', as in an export of ours.
  const hasNote = cells.some(([column]) => column === 'note');
  for (const [column, cell] of cells) {
    if (column === null || (hasNote && (column === 'text' || column === 'at'))) continue;
    // An export of ours protects texts that a spreadsheet would run.
    const text = textIn(column, cell)
      .trim()
      .replace(/^'(?=[=+\-@])/, '');
    if (text !== '' && fields[column] === undefined) fields[column] = text;
  }
  return fields;
}

/** Times and codes may be numbers, and tags a list, or left out where all are meant. */
function textIn(column: Column, cell: unknown): string {
  if (column === 'tags')
    return (Array.isArray(cell) ? cell.map(String).join(', ') : String(cell ?? '')) || '*';
  if (typeof cell === 'string') return cell;
  return typeof cell === 'number' && (column === 'at' || column === 'code') ? String(cell) : '';
}

function unreadable(detail: string): OperationError {
  return new OperationError('invalid', detail, { cause: new Problem(400, 'invalid_import', detail) });
}

function tooManyRows(): OperationError {
  const detail = `An import may have ${MAX_ROWS} rows; divide it.`;
  return new OperationError('invalid', detail, { cause: new Problem(413, 'too_many_rows', detail) });
}
