import {
  type Aftermath,
  type Bounce,
  type Consequence,
  consequenceOf,
  eventWithoutRecipient,
  NO_AFTERMATH,
} from '../../domain/aftermath.ts';
import { SOFT_BOUNCE_WINDOW_MS } from '../../domain/bounce.ts';
import { EVENT_TYPES, type EventFacts, type EventType } from '../../domain/event.ts';
import type { Feedback, FeedbackSource } from '../../domain/feedback.ts';
import { bounced, fromJson } from '../columns.ts';
import type { CountedEvent } from '../counting.ts';
import type { RelayNews } from '../telling.ts';
import {
  EARLY_MS,
  MAX_AHEAD_MS,
  MAX_EARLY,
  MAX_PLANNED,
  ONCE_MS,
  type OwnBounces,
  type RetellAnswer,
  type TellAnswer,
  type Telling,
  type TellingItem,
  type TellRules,
  type ToldCount,
  type ToldResult,
} from '../telling.ts';
import {
  findMail,
  type MailStep,
  type MailWork,
  type OpenMail,
  type OpenRecipient,
  openMail,
} from './mail.ts';
import { onPostgres, sql } from './sql.ts';
import { suppress } from './suppressing.ts';
import { endSoon } from './suppressions.ts';
import { unsubscribeLinkOf } from './unsubscribe-links.ts';
import { rows, run, send, type Work } from './work.ts';

/**
 * What is told of mail, applied in one transaction: the recipient's state, what is known of it, the suppression list,
 * events and the evidence. Written once for both databases, except for steps on the mail itself.
 */

/** The verb `tell`. */
export function* tell(batch: readonly Telling[], rules: TellRules, now: number): MailWork<TellAnswer[]> {
  const answers: TellAnswer[] = [];
  const queue = new EarlyQueue();
  for (const telling of batch) {
    const results: ToldResult[] = [];
    const { id, source, mayBeEarly, notBefore, onlyOfKey } = telling;
    for (const [place, item] of inOrder(telling.items)) {
      const isPlanned = notBefore !== undefined && notBefore > now;
      const told = (yield* isRepeated(source, item, now))
        ? { ...resultOf(item.feedback), verdict: 'repeated' as const }
        : isPlanned
          ? { ...resultOf(item.feedback), verdict: 'early' as const }
          : yield* apply(item, rules, now, false, onlyOfKey);
      const isEarly = told.verdict === 'early' || (told.verdict === 'unmatched' && mayBeEarly);
      const most = isPlanned ? MAX_PLANNED : MAX_EARLY;
      const early = { item, onlyOfKey };
      const waits = isEarly && (yield* queue.add(`${id} ${place}`, early, isPlanned ? notBefore : now, most));
      results[place] = isEarly ? { ...told, verdict: waits ? 'early' : 'unmatched' } : told;
    }
    yield* keepEvidence(telling, results, now);
    answers.push({ results });
  }
  return answers;
}

/** With their places, by what they name: writers at the same time then lock messages in the same order. */
function inOrder(items: readonly TellingItem[]): [place: number, item: TellingItem][] {
  const name = ({ feedback: { message } }: TellingItem) =>
    message.token?.id ?? message.id ?? message.providerMessageId ?? message.messageId ?? '';
  return [...items.entries()].sort(([, a], [, b]) => compare(name(a), name(b)));
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The verb `retell`. What another node tells again at this moment is left to it. */
export function* retell(after: string, limit: number, rules: TellRules, now: number): MailWork<RetellAnswer> {
  const waiting = yield* rows<{ id: string; at: number; body: string }>`
    SELECT id, at, body FROM early_feedback
    WHERE id > ${after} AND (at <= ${now} OR at > ${now + MAX_AHEAD_MS}) ORDER BY id LIMIT ${limit}
    ${onPostgres(sql`FOR UPDATE SKIP LOCKED`)}`;
  const results: ToldResult[] = [];
  for (const { id, at, body } of waiting) {
    const isLate = now - at >= EARLY_MS;
    const { item, onlyOfKey } = fromJson<Early>(body);
    const told = yield* apply(item, rules, now, isLate, onlyOfKey);
    if (told.verdict !== 'matched' && !isLate) continue;
    results.push(told);
    yield* send`DELETE FROM early_feedback WHERE id = ${id}`;
  }
  const waits = waiting.length > results.length;
  const [planned] = yield* rows<{ nextAt: number | null }>`
    SELECT min(at) AS "nextAt" FROM early_feedback WHERE at > ${now} AND at <= ${now + MAX_AHEAD_MS}`;
  const next = waiting.length < limit ? null : (waiting.at(-1)?.id ?? null);
  return { results, waits, nextAt: planned?.nextAt ?? null, next };
}

/** Writes own bounces of a message that was settled, or expired, in the same transaction. */
export function* tellOwn(id: string, { bounces, rules }: OwnBounces, now: number): MailWork<ToldResult[]> {
  const results: ToldResult[] = [];
  const mail = yield* openMail(id);
  if (mail === null) return results;
  for (const { index, type, code, enhancedCode, text, entryId } of bounces) {
    const recipient = mail.recipients.find((one) => one.index === index);
    // A cancellation may have been faster.
    if (recipient?.outcome !== 'rejected' && recipient?.outcome !== 'expired') continue;
    const bounce = { type, source: 'smtp', code, enhancedCode, text, at: now } as const;
    const known = yield* aftermathOf(id, index);
    yield* putAftermath(id, index, { ...known, bounce });
    const evidence = { messageId: id, at: now, code, enhancedCode, text };
    const cause = { suppresses: type, source: 'smtp', evidence, entryId } as const;
    const entry = yield* suppress(mail, recipient, cause, rules, now);
    const { address, relay } = recipient;
    const about = { verdict: 'matched', changed: true, messageId: id, address, relay } as const;
    results.push({ kind: 'bounce', source: 'smtp', ...about, bounce: type, entry, counted: null });
  }
  return results;
}

/** The verb `guard`: entries that bounces of a domain made, from an id on, end soon. */
export function* guard(domain: string, firstId: string, now: number): Work<void> {
  yield* endSoon(domain, firstId, now);
  yield* send`INSERT INTO events (at, type, facts) VALUES (${now}, ${EVENT_TYPES['suppression.guarded'].code},
    ${JSON.stringify({ domain })})`;
}

/** The verb `tellRelays`. */
export function* tellRelays(news: readonly RelayNews[]): Work<void> {
  for (const { type, relay, reply, until, at } of news) {
    const facts: EventFacts = {
      relay,
      ...(reply !== null && reply.code !== null && { code: reply.code }),
      ...(reply !== null && reply.enhanced !== null && { enhanced: reply.enhanced }),
      ...(reply !== null && { text: reply.text }),
      ...(until !== null && { nextAttemptAt: Math.round(until) }),
    };
    yield* send`INSERT INTO events (at, type, facts)
      VALUES (${at}, ${EVENT_TYPES[type].code}, ${JSON.stringify(facts)})`;
  }
}

/** Removes what is remembered no longer, at most `limit` rows of each kind. Returns how many of the kind with most. */
export function* forgetTold(firstFeedback: string, limit: number, now: number): Work<number> {
  const ids = yield* run`DELETE FROM told_once WHERE (source, once) IN
    (SELECT source, once FROM told_once WHERE at < ${now - ONCE_MS} ORDER BY at LIMIT ${limit})`;
  const evidence = yield* run`DELETE FROM feedback WHERE id IN
    (SELECT id FROM feedback WHERE id < ${firstFeedback} ORDER BY id LIMIT ${limit})`;
  const tooOld = now - SOFT_BOUNCE_WINDOW_MS;
  const soft = yield* run`DELETE FROM soft_bounces WHERE last_at < ${tooOld} AND address IN
    (SELECT address FROM soft_bounces WHERE last_at < ${tooOld} ORDER BY last_at LIMIT ${limit})`;
  return Math.max(ids, evidence, soft);
}

function* isRepeated(source: FeedbackSource, { onceId }: TellingItem, now: number): Work<boolean> {
  if (onceId === null) return false;
  const isNew = yield* run`INSERT INTO told_once (source, once, at) VALUES (${source}, ${onceId}, ${now})
    ON CONFLICT (source, once) DO NOTHING`;
  return isNew === 0;
}

/** What waits to be told again. */
interface Early {
  readonly item: TellingItem;
  readonly onlyOfKey?: string | undefined;
}

/** What waits to be told again, as a transaction sees and adds to it: it is counted once. */
class EarlyQueue {
  #waiting: number | null = null;

  /** `at`: since when it waits, or until when (wall ms). False: as much as `most` waits already. */
  *add(id: string, early: Early, at: number, most: number): Work<boolean> {
    this.#waiting ??= yield* waitingNow();
    if (this.#waiting >= most) return false;
    this.#waiting++;
    yield* send`INSERT INTO early_feedback (id, at, body) VALUES (${id}, ${at}, ${JSON.stringify(early)})`;
    return true;
  }
}

function* waitingNow(): Work<number> {
  const [count] = yield* rows<{ waiting: number }>`
    SELECT count(*) AS waiting FROM (SELECT 1 FROM early_feedback LIMIT ${MAX_EARLY}) AS early`;
  return count?.waiting ?? 0;
}

function* keepEvidence(
  { id, source, items, evidence }: Telling,
  results: readonly ToldResult[],
  now: number,
) {
  if (evidence === null) return;
  // What is about several messages belongs to none: whoever may see one of them must not see the others.
  const messageId = sameOf(results.map((one) => one.messageId));
  const address = messageId === null ? null : sameOf(results.map((one) => one.address));
  const { contentType, base64 } = evidence;
  yield* send`INSERT INTO feedback (id, at, source, kind, message, address, content_type, evidence)
    VALUES (${id}, ${now}, ${source}, ${items[0]?.feedback.kind ?? 'nothing'}, ${messageId},
      ${address}, ${contentType}, ${base64})`;
}

/** What all of them are; null if they differ, or are nothing. */
function sameOf(values: readonly (string | null)[]): string | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

function resultOf({ kind, source }: Feedback): ToldResult {
  return {
    kind,
    source,
    verdict: 'unmatched',
    changed: false,
    messageId: null,
    address: null,
    relay: null,
    bounce: null,
    entry: null,
    counted: null,
  };
}

/** Applies one thing told. Early: it matches, but its recipient is still on its way. */
function* apply(
  item: TellingItem,
  rules: TellRules,
  now: number,
  isLate: boolean,
  onlyOfKey: string | undefined,
): MailWork<ToldResult> {
  const { feedback, entryId } = item;
  const about = yield* findMail(feedback, onlyOfKey);
  if (about === null) return yield* applyToLink(item, rules, now, onlyOfKey);
  const { mail, recipient } = about;
  const { source, kind } = feedback;
  const result = resultOf(feedback);
  const at = happenedAt(feedback, now);
  const when = at === now ? {} : { happenedAt: at };
  const matched = { ...result, verdict: 'matched', messageId: mail.id } as const;
  if (recipient === null) {
    const type = eventWithoutRecipient(kind);
    if (type === null) return matched;
    yield event(mail.id, null, type, now, { source, ...when }, null);
    return { ...matched, changed: true };
  }
  const { index, address, relay } = recipient;
  const named = { ...matched, address, relay };
  const known = yield* aftermathOf(mail.id, index);
  const consequence = consequenceOf(feedback, recipient, known, at, isLate);
  if (consequence === 'too_early') return { ...named, verdict: 'early' };
  const { event: type, aftermath, bounces, suppresses } = consequence;
  if (type === null && suppresses === null) return named;
  const { code, enhancedCode, text } = feedback.bounce;
  const { bounce } = aftermath;
  if (bounces && bounce !== null) yield { mail: 'bounce', id: mail.id, index, bounce };
  if (aftermath !== known) yield* putAftermath(mail.id, index, aftermath);
  const evidence = { messageId: mail.id, at, code, enhancedCode, text };
  const entry =
    suppresses === null
      ? null
      : yield* suppress(mail, recipient, { suppresses, source, evidence, entryId }, rules, now);
  // A new entry has the id that it was given here.
  if (type === null) return { ...named, changed: entry?.id === entryId, entry };
  const told = type === 'message.bounced' ? (bounce?.type ?? null) : null;
  const facts = {
    ...factsOf(consequence, recipient, feedback),
    ...when,
    ...(told !== null && { bounce: told }),
    ...(entry !== null && { suppression: entry.id }),
  };
  // What may be another recipient's changes nothing of this one, and counts for nobody.
  const isCertain = aftermath !== known;
  const counted =
    type === 'message.bounced' && bounces
      ? 'relay_bounced'
      : type === 'message.complained' && isCertain
        ? 'relay_complained'
        : null;
  yield event(mail.id, index, type, now, facts, counted);
  return { ...named, changed: true, bounce: told, entry, counted: toldCount(counted, mail, bounce) };
}

function toldCount(
  counted: CountedEvent | null,
  { keyId, tags }: OpenMail,
  bounce: Bounce | null,
): ToldCount | null {
  if (counted === null) return null;
  const as = counted === 'relay_bounced' ? 'bounced' : 'complained';
  return { as, keyId, tags, reply: as === 'bounced' && bounce !== null ? bounced(bounce).reply : null };
}

/** Applies that somebody unsubscribed, where the message is recorded no longer. */
function* applyToLink(
  { feedback, entryId }: TellingItem,
  rules: TellRules,
  now: number,
  onlyOfKey: string | undefined,
): Work<ToldResult> {
  const result = resultOf(feedback);
  const { kind, source, message } = feedback;
  const { id = '', recipient = null } = message.token ?? {};
  if (kind !== 'unsubscribe' || recipient === null) return result;
  const link = yield* unsubscribeLinkOf(id, recipient);
  if (link === null || (onlyOfKey !== undefined && link.keyId !== onlyOfKey)) return result;
  const evidence = { messageId: id, at: happenedAt(feedback, now), code: null, enhancedCode: null, text: '' };
  const cause = { suppresses: kind, source, evidence, entryId };
  const entry = yield* suppress({ ...link, id, test: false }, link, cause, rules, now);
  const { address } = link;
  return { ...result, verdict: 'matched', changed: entry?.id === entryId, messageId: id, address, entry };
}

/** Nothing has happened yet that is told now: another clock is ahead, or somebody lies. */
function happenedAt({ at }: Feedback, now: number): number {
  return Math.min(at ?? now, now);
}

function factsOf(
  { bounces }: Consequence,
  { relay, state, outcome }: OpenRecipient,
  { source, bounce }: Feedback,
): EventFacts {
  const { code, enhancedCode, text } = bounce;
  const after = bounces ? 'bounced' : outcome;
  return {
    ...(relay !== null && { relay }),
    ...(after !== null && { outcome: after }),
    ...(state !== 'delivered' && state !== 'failed' && { state }),
    ...(code !== null && { code }),
    ...(enhancedCode !== null && { enhanced: enhancedCode }),
    ...(text !== '' && { text }),
    source,
  };
}

function event(
  id: string,
  index: number | null,
  type: EventType,
  at: number,
  facts: EventFacts,
  counted: CountedEvent | null,
): MailStep {
  return { mail: 'event', id, type, index, at, facts, counted };
}

// What is known of recipients.

interface AftermathRow extends Omit<Aftermath, 'bounce'> {
  readonly bounce: string | null;
}

function* aftermathOf(id: string, index: number): Work<Aftermath> {
  const [row] = yield* rows<AftermathRow>`SELECT confirmed_at AS "confirmedAt", bounce,
    complained_at AS "complainedAt", unsubscribed_at AS "unsubscribedAt", suppression
    FROM aftermath WHERE message = ${id} AND idx = ${index}`;
  if (row === undefined) return NO_AFTERMATH;
  return { ...row, bounce: row.bounce === null ? null : fromJson<Bounce>(row.bounce) };
}

function putAftermath(id: string, index: number, known: Aftermath): Work<void> {
  const { confirmedAt, bounce, complainedAt, unsubscribedAt, suppression } = known;
  const text = bounce === null ? null : JSON.stringify(bounce);
  return send`INSERT INTO aftermath (message, idx, confirmed_at, bounce, complained_at, unsubscribed_at, suppression)
    VALUES (${id}, ${index}, ${confirmedAt}, ${text}, ${complainedAt}, ${unsubscribedAt}, ${suppression})
    ON CONFLICT (message, idx) DO UPDATE SET confirmed_at = excluded.confirmed_at, bounce = excluded.bounce,
      complained_at = excluded.complained_at, unsubscribed_at = excluded.unsubscribed_at,
      suppression = excluded.suppression`;
}
