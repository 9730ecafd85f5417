import { EVENT_TYPES, type EventFacts } from '../../domain/event.ts';
import { domainOfSuppressed } from '../../domain/suppressed-address.ts';
import {
  type Evidence,
  hasEnded,
  merged,
  type Suppression,
  type SuppressionReason,
  type SuppressionScope,
} from '../../domain/suppression.ts';
import { fromJson } from '../columns.ts';
import { among, Columns, onPostgres, sql } from './sql.ts';
import { rows, send, type Work } from './work.ts';

/** Entries of the suppression list as rows, for every verb that reads or changes them. */

interface SuppressionRow {
  readonly id: string;
  readonly address: string;
  readonly domain: string;
  readonly scope: SuppressionScope;
  readonly stream: string;
  readonly reason: SuppressionReason;
  readonly source: string;
  readonly evidence: string | null;
  readonly note: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
}

const ENTRY = new Columns<SuppressionRow>({
  id: sql`id`,
  address: sql`address`,
  domain: sql`domain`,
  scope: sql`scope`,
  stream: sql`stream`,
  reason: sql`reason`,
  source: sql`source`,
  evidence: sql`evidence`,
  note: sql`note`,
  createdAt: sql`created_at`,
  updatedAt: sql`updated_at`,
  expiresAt: sql`expires_at`,
});

function entryOf({ domain: _, ...row }: SuppressionRow): Suppression {
  return {
    ...row,
    stream: row.stream === '' ? null : row.stream,
    evidence: row.evidence === null ? null : fromJson<Evidence>(row.evidence),
  };
}

/** The entries that stand under any of these normal forms (`suppressionKeys`), of all scopes and streams. */
export function* entriesUnder(addresses: readonly string[]): Work<Suppression[]> {
  if (addresses.length === 0) return [];
  return (yield* rows<SuppressionRow>`
    SELECT ${ENTRY.selected} FROM suppressions WHERE address ${among(addresses)}`).map(entryOf);
}

/**
 * Adds an entry, or renews the one of its address, scope and stream, see `merged`. Returns the entry as it stands
 * then. Only of a new one, or one that takes the place of one that has ended, there is an event.
 */
export function* put(entry: Suppression): Work<{ readonly entry: Suppression; readonly isNew: boolean }> {
  const { address, scope, stream, updatedAt: now } = entry;
  // Locks the place of the entry against other writers, whether or not it exists.
  yield* send`${onPostgres(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${address} ${scope} ${stream ?? ''}`}, 0))`)}`;
  const [found] = yield* rows<SuppressionRow>`SELECT ${ENTRY.selected} FROM suppressions
    WHERE address = ${address} AND scope = ${scope} AND stream = ${stream ?? ''}`;
  const standing = found === undefined ? null : entryOf(found);
  const isNew = standing === null || hasEnded(standing, now);
  const result = standing === null ? entry : merged(standing, entry, now);
  const { reason, source, evidence, note, createdAt, updatedAt, expiresAt } = result;
  const proof = evidence === null ? null : JSON.stringify(evidence);
  if (standing === null)
    yield* send`INSERT INTO suppressions (${ENTRY.names}) VALUES (${ENTRY.values({
      ...result,
      stream: stream ?? '',
      domain: domainOfSuppressed(address),
      evidence: proof,
    })})`;
  else
    yield* send`UPDATE suppressions SET reason = ${reason}, source = ${source}, evidence = ${proof}, note = ${note},
      created_at = ${createdAt}, updated_at = ${updatedAt}, expires_at = ${expiresAt} WHERE id = ${standing.id}`;
  if (isNew) yield* tell('suppression.added', result, now);
  return { entry: result, isNew };
}

/** Writes the event that an entry was added or removed at `now` (wall ms). */
export function tell(
  type: 'suppression.added' | 'suppression.removed',
  { id, address, scope, stream, reason, source }: Suppression,
  now: number,
): Work<void> {
  const facts: EventFacts = { entry: { id, address, scope, stream, reason, source } };
  return send`INSERT INTO events (at, type, facts)
    VALUES (${now}, ${EVENT_TYPES[type].code}, ${JSON.stringify(facts)})`;
}
