import { feedbackText } from '../domain/feedback.ts';
import { expiryOf, type Suppression, type SuppressionReason } from '../domain/suppression.ts';
import { quote } from '../http/problem.ts';
import { parseTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import { type Progress, UNWATCHED } from '../operations/operation.ts';
import type { SuppressionImport } from '../operations/suppressions.ts';
import type { RequestOf, StepOf } from '../operations/table.ts';
import { MAX_ADDITIONS } from '../store/suppressions.ts';
import type { LocalDeps } from './deps.ts';
import { type InForce, suppressionRules } from './in-force.ts';
import {
  evidenceOf,
  guessedOf,
  type ImportRow,
  reasonOf,
  rowsOfCsv,
  rowsOfJson,
} from './suppression-table.ts';
import { addressIn, listFull, sourceNow, streamIn, type View } from './suppression-view.ts';

/** Most rows whose faults are told. */
const MAX_INVALID = 1000;

/** What importing needs. */
export interface ImportDeps extends Pick<LocalDeps, 'suppressions' | 'clock'> {
  readonly resolution: () => Pick<InForce, 'config'>;
  readonly view: View;
  readonly nextId: () => string;
  readonly progress: Progress<StepOf<'importSuppressions'>> | undefined;
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
function entryOf({ fields, list }: ImportRow, parts: EntryParts): Suppression {
  const { view, nextId, usual, now, days } = parts;
  const address = addressIn(fields.address ?? '', '/address');
  const said = reasonOf(fields);
  const reason = said ?? (parts.reason === 'import' ? (list ?? guessedOf(fields)) : parts.reason);
  const end = endOf(fields.expiresAt);
  // With an end, a row would take off the list somebody who complained, without the confirmation that this needs.
  const expiresAt = reason === 'complaint' ? null : end;
  if (expiresAt !== null && expiresAt <= now) throw new OperationError('invalid', 'It has ended already.');
  const text = fields.text ?? (said === null ? fields.reason : undefined) ?? '';
  const evidence = evidenceOf(fields, text, now);
  return {
    id: nextId(),
    address,
    scope: fields.scope === undefined ? usual : view.changeable(fields.scope, '/scope'),
    stream: streamOf({ fields, list }, parts.stream),
    reason,
    source: sourceNow(),
    evidence,
    note: feedbackText(fields.note ?? (evidence === null ? text : '')),
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

/**
 * Mailgun's rows say with tags which mail they stop: `*` is all of it. One of some tags only is not taken for more, or
 * for nothing: whoever imports it says which stream is meant.
 */
function streamOf({ fields, list }: Pick<ImportRow, 'fields' | 'list'>, usual: string | null): string | null {
  const { stream, tags } = fields;
  if (stream !== undefined) return streamIn(stream, '/stream');
  // In lists of others, tags may be anything.
  if (tags === undefined || list === null) return usual;
  if (tags.split(',').some((tag) => tag.trim() === '*')) return null;
  if (usual !== null) return usual;
  const detail = `It is about mail with the tag ${quote(tags)} only: import it again, with the stream of that mail.`;
  throw new OperationError('invalid', detail);
}
