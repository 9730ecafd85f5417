import { HELD_BACK, softBouncesInARow, suppressionBy } from '../../domain/bounce.ts';
import type { BounceType, FeedbackSource } from '../../domain/feedback.ts';
import { suppressedOf } from '../../domain/suppressed-address.ts';
import {
  domainOfFrom,
  expiryOf,
  type Suppression,
  type SuppressionReason,
  scopeOf,
} from '../../domain/suppression.ts';
import { fromJson } from '../columns.ts';
import type { TellRules, ToldEntry } from '../telling.ts';
import type { OpenMail, OpenRecipient } from './mail.ts';
import { onPostgres, sql } from './sql.ts';
import { put } from './suppressions.ts';
import { rows, send, type Work } from './work.ts';

/** Entries of the suppression list that follow from what is told of mail, and soft bounces in a row. */

/** What may suppress an address. */
interface SuppressionCause {
  readonly suppresses: BounceType | 'complaint' | 'unsubscribe';
  readonly source: FeedbackSource;
  readonly evidence: NonNullable<Suppression['evidence']>;
  readonly entryId: string;
}

/** Makes or renews the entry that follows, if one does. */
export function* suppress(
  mail: Omit<OpenMail, 'recipients' | 'tags'>,
  { address: recipient }: Pick<OpenRecipient, 'address'>,
  { suppresses, source, evidence, entryId }: SuppressionCause,
  rules: TellRules,
  now: number,
): Work<ToldEntry | null> {
  const { address, domain } = suppressedOf(recipient);
  const reason =
    suppresses === 'complaint' || suppresses === 'unsubscribe'
      ? suppresses
      : yield* reasonOfBounce(suppresses, address, mail, rules, now);
  if (reason === null || (HELD_BACK.includes(reason) && rules.guarded.includes(domain))) return null;
  const { keyId, test, from, stream } = mail;
  const scope = scopeOf(rules.scope[scopeRule(reason)], { keyId, test, fromDomain: domainOfFrom(from) });
  if (scope === null) return null;
  const addition = yield* put(
    {
      id: entryId,
      address,
      scope,
      stream: reason === 'unsubscribe' ? stream : null,
      reason,
      source,
      evidence,
      note: '',
      createdAt: now,
      updatedAt: now,
      expiresAt: expiryOf(reason, rules.days, now),
    },
    { max: rules.maxEntries, by: 'itself', now },
  );
  if (addition.kind !== 'added') return null;
  const { entry } = addition;
  return { id: entry.id, address, reason: entry.reason };
}

function scopeRule(reason: SuppressionReason): keyof TellRules['scope'] {
  return reason === 'complaint' || reason === 'unsubscribe' ? reason : 'hard_bounce';
}

function* reasonOfBounce(
  type: BounceType,
  address: string,
  { id: messageId, test }: Pick<OpenMail, 'id' | 'test'>,
  { softBounces: limit }: TellRules,
  now: number,
): Work<SuppressionReason | null> {
  if (type !== 'soft') return suppressionBy(type, 0, limit);
  // The row is everybody's: what a test key sends must not add to it.
  if (limit === 0 || test) return null;
  // Locks the row against other writers, whether or not it exists.
  yield* send`${onPostgres(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`soft ${address}`}, 0))`)}`;
  const [row] = yield* rows<{ times: string; deliveredBy: string | null }>`
    SELECT times, delivered_by AS "deliveredBy" FROM soft_bounces WHERE address = ${address}`;
  // What was delivered and came back was no delivery.
  const isInARow = row !== undefined && (row.deliveredBy === null || row.deliveredBy === messageId);
  const times = [...(isInARow ? fromJson<number[]>(row.times) : []), now].slice(-limit);
  const reason = suppressionBy(type, softBouncesInARow(times, null, now), limit);
  if (reason !== null) yield* send`DELETE FROM soft_bounces WHERE address = ${address}`;
  else
    yield* send`INSERT INTO soft_bounces (address, times, last_at) VALUES (${address}, ${JSON.stringify(times)}, ${now})
      ON CONFLICT (address) DO UPDATE SET times = excluded.times, last_at = excluded.last_at, delivered_by = NULL`;
  return reason;
}
