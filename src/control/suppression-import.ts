import { isRecord } from '../config/kinds.ts';
import { feedbackText } from '../domain/feedback.ts';
import {
  expiryOf,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '../domain/suppression.ts';
import { Problem } from '../http/problem.ts';
import { parseTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import { type Progress, UNWATCHED } from '../operations/operation.ts';
import type { SuppressionImport } from '../operations/suppressions.ts';
import type { RequestOf, StepOf } from '../operations/table.ts';
import { MAX_ADDITIONS } from '../store/suppressions.ts';
import type { LocalDeps } from './deps.ts';
import { type InForce, suppressionRules } from './in-force.ts';
import { addressIn, listFull, sourceNow, streamIn, type View } from './suppression-view.ts';

/** Most rows of an import. */
const MAX_ROWS = 100_000;
/** Most rows whose faults are told. */
const MAX_INVALID = 1000;

/** What importing needs. */
export interface ImportDeps extends Pick<LocalDeps, 'suppressions' | 'clock'> {
  readonly resolution: () => Pick<InForce, 'config'>;
  readonly view: View;
  readonly nextId: () => string;
  readonly progress: Progress<StepOf<'importSuppressions'>> | undefined;
}

/** A row as it was written: texts by our names of columns. */
interface ImportRow {
  readonly line: number;
  readonly fields: Readonly<Partial<Record<Column, string>>>;
}

/**
 * Adds the rows of a table. Nothing is added if it cannot be read as a whole, or has too many rows; a row that is wrong
 * by itself is told, and the others are added. Throws `OperationError`.
 */
export async function importSuppressions(
  { format, text, reason = 'import', ...defaults }: RequestOf<'importSuppressions'>,
  deps: ImportDeps,
): Promise<SuppressionImport> {
  const { suppressions, clock, view, progress = UNWATCHED } = deps;
  const rows = format === 'csv' ? await rowsOfCsv(text) : rowsOfJson(text);
  const rules = suppressionRules(deps.resolution().config);
  // Once for all: a scope that this key may not use is a fault of the request.
  const usual = view.changeable(defaults.scope ?? null, '/scope');
  const stream = streamIn(defaults.stream ?? null, '/stream');
  const invalid: SuppressionImport['invalid'][number][] = [];
  let [added, updated] = [0, 0];
  for (let done = 0; done < rows.length && !progress.signal.aborted; done += MAX_ADDITIONS) {
    const now = clock.wall();
    const batch = rows.slice(done, done + MAX_ADDITIONS).flatMap((row) => {
      try {
        return [{ row, entry: entryOf(row, { ...deps, usual, stream, reason, now, days: rules.days }) }];
      } catch (error) {
        if (!(error instanceof OperationError)) throw error;
        invalid.push({ line: row.line, detail: error.faults[0]?.detail ?? error.message });
        return [];
      }
    });
    const answers = await suppressions.addSuppressions(
      batch.map(({ entry }) => entry),
      { max: rules.maxEntries, by: 'hand', now },
    );
    for (const [place, answer] of answers.entries()) {
      if (answer.kind === 'added') answer.isNew ? added++ : updated++;
      if (answer.kind === 'crowded')
        invalid.push({
          line: batch[place]?.row.line ?? 1,
          detail: 'This address has as many entries as one may have.',
        });
    }
    if (answers.some(({ kind }) => kind === 'full'))
      throw listFull(` Of the import, ${added} entries were added and ${updated} renewed before.`);
    progress.tell({ done: Math.min(done + MAX_ADDITIONS, rows.length), total: rows.length });
  }
  invalid.sort((a, b) => a.line - b.line);
  const told = invalid.slice(0, MAX_INVALID);
  return { added, updated, invalid: told, moreInvalid: invalid.length - told.length };
}

interface EntryParts extends Pick<ImportDeps, 'view' | 'nextId'> {
  readonly usual: Suppression['scope'];
  readonly stream: string | null;
  /** Of rows that say none which is known. */
  readonly reason: SuppressionReason;
  readonly now: number;
  readonly days: Parameters<typeof expiryOf>[1];
}

/** Throws `OperationError` for what is no entry. */
function entryOf({ fields }: ImportRow, parts: EntryParts): Suppression {
  const { view, nextId, usual, stream, now, days } = parts;
  const address = addressIn(fields.address ?? '', '/address');
  const said = reasonOf(fields);
  const reason = said ?? parts.reason;
  const end = endOf(fields.expiresAt);
  // With an end, a row would take off the list somebody who complained, without the confirmation that this needs.
  const expiresAt = reason === 'complaint' ? null : end;
  if (expiresAt !== null && expiresAt <= now) throw new OperationError('invalid', 'It has ended already.');
  return {
    id: nextId(),
    address,
    scope: fields.scope === undefined ? usual : view.changeable(fields.scope, '/scope'),
    stream: fields.stream === undefined ? stream : streamIn(fields.stream, '/stream'),
    reason,
    source: sourceNow(),
    evidence: null,
    note: feedbackText(fields.note ?? fields.text ?? (said === null ? fields.reason : undefined) ?? ''),
    createdAt: now,
    updatedAt: now,
    expiresAt: expiresAt ?? expiryOf(reason, days, now),
  };
}

function endOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const at = parseTimestamp(text);
  if (at === null)
    throw new OperationError('invalid', 'expiresAt must be an RFC 3339 time such as 2026-11-20T11:15:00Z.');
  return at;
}

// Columns: ours, and those of exports of providers (docs/suppressions.md). Case, blanks, `_` and `-` do not matter.

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
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Column = keyof typeof COLUMNS;

const BY_NAME = new Map(
  Object.entries(COLUMNS).flatMap(([column, names]) =>
    names.map((name) => [name as string, column as Column]),
  ),
);

function columnOf(name: string): Column | null {
  return BY_NAME.get(name.toLowerCase().replaceAll(/[\s_-]/g, '')) ?? null;
}

/** What others call our reasons, in the normal form of names of columns. */
// biome-ignore format: a table
const REASONS: ReadonlyMap<string, SuppressionReason> = new Map([
  ...SUPPRESSION_REASONS.map((reason) => [reason.replaceAll('_', ''), reason] as const),
  ...(['bounce', 'bounced', 'hard', 'hardbounced', 'permanent', 'invalid', 'bademailaddress', 'general'] as const).map((name) => [name, 'hard_bounce'] as const),
  ...(['spamcomplaint', 'complained', 'spam', 'spamreport', 'abuse'] as const).map((name) => [name, 'complaint'] as const),
  ...(['unsubscribed', 'optout'] as const).map((name) => [name, 'unsubscribe'] as const),
  ...(['soft', 'softbounce', 'transient'] as const).map((name) => [name, 'soft_bounces'] as const),
]);

/** Null: none that is known, but perhaps words of a provider, which become the note. */
function reasonOf({ reason = '', origin = '' }: ImportRow['fields']): SuppressionReason | null {
  const name = reason.toLowerCase().replaceAll(/[\s_-]/g, '');
  // Postmark: by the recipient, or by its customer.
  if (name === 'manualsuppression') return origin.toLowerCase() === 'recipient' ? 'unsubscribe' : 'manual';
  return REASONS.get(name) ?? null;
}

async function rowsOfCsv(text: string): Promise<ImportRow[]> {
  // Only here: a server that imports nothing starts without it.
  const { CsvError, readCsv } = await import('./csv.ts');
  const rows: ImportRow[] = [];
  let columns: readonly (Column | null)[] | null = null;
  try {
    for await (const { line, cells } of readCsv(text)) {
      if (columns === null) columns = columnsOf(cells);
      else rows.push({ line, fields: fieldsOf(columns.map((column, place) => [column, cells[place]])) });
      if (rows.length > MAX_ROWS) throw tooManyRows();
    }
  } catch (error) {
    if (error instanceof CsvError) throw unreadable(`It is not CSV: ${error.message}`);
    throw error;
  }
  if (columns === null) throw unreadable(NO_HEADER);
  return rows;
}

const NO_HEADER = 'Its first line must name the columns, one of them address or email.';

function columnsOf(header: readonly string[]): readonly (Column | null)[] {
  const columns = header.map(columnOf);
  if (columns.includes('address')) return columns;
  throw unreadable(NO_HEADER);
}

function rowsOfJson(text: string): ImportRow[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(`It is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const list = isRecord(value) ? Object.values(value).find(Array.isArray) : value;
  if (!Array.isArray(list)) throw unreadable('It must be a list of entries, or an object that has one.');
  if (list.length > MAX_ROWS) throw tooManyRows();
  return list.map((item: unknown, place) => {
    const entries = isRecord(item) ? Object.entries(item) : [['address', item] as const];
    return { line: place + 1, fields: fieldsOf(entries.map(([name, field]) => [columnOf(name), field])) };
  });
}

/** Of several columns that mean the same the first counts; empty ones do not. */
function fieldsOf(cells: readonly (readonly [Column | null, unknown])[]): ImportRow['fields'] {
  const fields: Partial<Record<Column, string>> = {};
  // Beside a note, a text is that of the evidence, as in an export of ours.
  const hasNote = cells.some(([column]) => column === 'note');
  for (const [column, cell] of cells) {
    if (column === null || typeof cell !== 'string' || (column === 'text' && hasNote)) continue;
    // An export of ours protects texts that a spreadsheet would run.
    const text = cell.trim().replace(/^'(?=[=+\-@])/, '');
    if (text !== '' && fields[column] === undefined) fields[column] = text;
  }
  return fields;
}

function unreadable(detail: string): OperationError {
  return new OperationError('invalid', detail, { cause: new Problem(400, 'invalid_import', detail) });
}

function tooManyRows(): OperationError {
  const detail = `An import may have ${MAX_ROWS} rows; divide it.`;
  return new OperationError('invalid', detail, { cause: new Problem(413, 'too_many_rows', detail) });
}
