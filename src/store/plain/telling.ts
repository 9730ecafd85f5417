import {
  type Aftermath,
  type Bounce,
  type Consequence,
  consequenceOf,
  eventWithoutRecipient,
} from '../../domain/aftermath.ts';
import {
  GUARD_WINDOW_MS,
  guardedExpiry,
  isHeldBack,
  SOFT_BOUNCE_WINDOW_MS,
  softBouncesInARow,
  suppressionBy,
} from '../../domain/bounce.ts';
import type { DeliveryState } from '../../domain/delivery.ts';
import { EVENT_TYPES, type EventFacts, type EventType } from '../../domain/event.ts';
import type { BounceType, Feedback, FeedbackSource } from '../../domain/feedback.ts';
import type { OutcomeName } from '../../domain/outcome.ts';
import { lowerAscii, suppressedOf } from '../../domain/suppressed-address.ts';
import {
  domainOfFrom,
  expiryOf,
  type Suppression,
  type SuppressionReason,
  scopeOf,
} from '../../domain/suppression.ts';
import { idFloor } from '../../lib/id.ts';
import { fromJson } from '../columns.ts';
import type { RelayNews } from '../store.ts';
import {
  EARLY_MS,
  MAX_EARLY,
  ONCE_MS,
  type OwnBounces,
  type RetellAnswer,
  type TellAnswer,
  type Telling,
  type TellingItem,
  type TellRules,
  type ToldEntry,
  type ToldResult,
} from '../telling.ts';
import { entriesOfDomain, expireEntry, put } from './suppressions.ts';
import { rows, run, type Step, send, type Work } from './work.ts';

/**
 * What is told of mail, applied in one transaction: the recipient's state, what is known of it, the suppression list,
 * events and the evidence. Written once for both databases, except for steps on the mail itself.
 */

/** A step on mail, which each database takes in its own way. */
export type MailStep =
  /** Opens a message, so that nobody else changes it until the end: {@link OpenMail}, or null. */
  | { readonly mail: 'open'; readonly id: string }
  /** The deliveries that a relay knows by this id (null: any relay): {@link NamedDelivery} each. */
  | { readonly mail: 'by_provider_id'; readonly providerId: string; readonly relay: string | null }
  /** The newest messages with this Message-ID: their ids. */
  | { readonly mail: 'by_message_id'; readonly messageId: string; readonly limit: number }
  /** A delivered delivery of an open message becomes failed, as bounced. */
  | { readonly mail: 'bounce'; readonly id: string; readonly index: number; readonly bounce: Bounce }
  /** Writes an event of an open message. */
  | {
      readonly mail: 'event';
      readonly id: string;
      readonly type: EventType;
      readonly index: number | null;
      readonly at: number;
      readonly facts: EventFacts;
    };

/** Work on plain rows, and on mail. */
export type MailWork<T> = Generator<Step | MailStep, T, unknown>;

/** See {@link MailStep}. */
export interface OpenMail {
  readonly id: string;
  readonly keyId: string | null;
  readonly test: boolean;
  readonly from: string;
  readonly stream: string | null;
  readonly recipients: readonly OpenRecipient[];
}

/** A recipient of an open message. */
export interface OpenRecipient {
  readonly index: number;
  readonly address: string;
  readonly state: DeliveryState;
  readonly outcome: OutcomeName | null;
  readonly relay: string | null;
}

/** See {@link MailStep}. */
export interface NamedDelivery {
  readonly id: string;
  readonly index: number;
}

/** How many messages of one Message-ID are looked at. */
const MAX_NAMESAKES = 5;

/** The verb `tell`. */
export function* tell(batch: readonly Telling[], rules: TellRules, now: number): MailWork<TellAnswer[]> {
  const answers: TellAnswer[] = [];
  for (const telling of batch) {
    const results: ToldResult[] = [];
    for (const [place, item] of telling.items.entries()) {
      const told = (yield* isRepeated(telling.source, item, now))
        ? { ...resultOf(item.feedback), verdict: 'repeated' as const }
        : yield* apply(item, rules, now, false, telling.onlyOfKey);
      const isEarly = told.verdict === 'early' || (told.verdict === 'unmatched' && telling.mayBeEarly);
      const waits = isEarly && (yield* keepForLater(`${telling.id} ${place}`, item, now));
      results.push(
        waits ? { ...told, verdict: 'early' } : isEarly ? { ...told, verdict: 'unmatched' } : told,
      );
    }
    yield* keepEvidence(telling, results, now);
    answers.push({ results });
  }
  return answers;
}

/** The verb `retell`. */
export function* retell(after: string, limit: number, rules: TellRules, now: number): MailWork<RetellAnswer> {
  const waiting = yield* rows<{ id: string; at: number; body: string }>`
    SELECT id, at, body FROM early_feedback WHERE id > ${after} ORDER BY id LIMIT ${limit}`;
  const results: ToldResult[] = [];
  for (const { id, at, body } of waiting) {
    const isLate = now - at >= EARLY_MS;
    const told = yield* apply(fromJson<TellingItem>(body), rules, now, isLate);
    if (told.verdict !== 'matched' && !isLate) continue;
    results.push(told);
    yield* send`DELETE FROM early_feedback WHERE id = ${id}`;
  }
  const waits = waiting.length > results.length;
  return { results, waits, next: waiting.length < limit ? null : (waiting.at(-1)?.id ?? null) };
}

/** Writes own bounces of a message that was settled, or expired, in the same transaction. */
export function* tellOwn(id: string, { bounces, rules }: OwnBounces, now: number): MailWork<ToldResult[]> {
  const results: ToldResult[] = [];
  const mail = yield* open(id);
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
    results.push({ kind: 'bounce', source: 'smtp', ...about, bounce: type, entry });
  }
  return results;
}

/** The verb `guard`: entries that bounces of a domain made within the last hour end soon. */
export function* guard(domain: string, now: number): MailWork<void> {
  for (const entry of yield* entriesOfDomain(domain, now - GUARD_WINDOW_MS)) {
    const expiresAt = guardedExpiry(entry, now);
    if (expiresAt !== entry.expiresAt) yield* expireEntry(entry.id, expiresAt, now);
  }
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
export function* forgetTold(feedbackAgeMs: number, limit: number, now: number): Work<number> {
  const ids = yield* run`DELETE FROM told_once WHERE (source, once) IN
    (SELECT source, once FROM told_once WHERE at < ${now - ONCE_MS} ORDER BY at LIMIT ${limit})`;
  const evidence = yield* run`DELETE FROM feedback WHERE id IN
    (SELECT id FROM feedback WHERE id < ${idFloor('fbk_', now - feedbackAgeMs)} ORDER BY id LIMIT ${limit})`;
  const soft = yield* run`DELETE FROM soft_bounces WHERE address IN
    (SELECT address FROM soft_bounces WHERE last_at < ${now - SOFT_BOUNCE_WINDOW_MS} ORDER BY last_at LIMIT ${limit})`;
  return Math.max(ids, evidence, soft);
}

function* isRepeated(source: FeedbackSource, { onceId }: TellingItem, now: number): Work<boolean> {
  if (onceId === null) return false;
  const isNew = yield* run`INSERT INTO told_once (source, once, at) VALUES (${source}, ${onceId}, ${now})
    ON CONFLICT (source, once) DO NOTHING`;
  return isNew === 0;
}

/** False: too much waits already. */
function* keepForLater(id: string, item: TellingItem, now: number): Work<boolean> {
  const [count] = yield* rows<{ waiting: number }>`
    SELECT count(*) AS waiting FROM (SELECT 1 FROM early_feedback LIMIT ${MAX_EARLY}) AS early`;
  if ((count?.waiting ?? 0) >= MAX_EARLY) return false;
  yield* send`INSERT INTO early_feedback (id, at, body) VALUES (${id}, ${now}, ${JSON.stringify(item)})`;
  return true;
}

function* keepEvidence(
  { id, source, items, evidence }: Telling,
  results: readonly ToldResult[],
  now: number,
) {
  if (evidence === null) return;
  const about = results.find(({ messageId }) => messageId !== null);
  const { contentType, base64 } = evidence;
  yield* send`INSERT INTO feedback (id, at, source, kind, message, address, content_type, evidence)
    VALUES (${id}, ${now}, ${source}, ${items[0]?.feedback.kind ?? 'nothing'}, ${about?.messageId ?? null},
      ${about?.address ?? null}, ${contentType}, ${base64})`;
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
  };
}

/** Applies one thing told. Early: it matches, but its recipient is still on its way. */
function* apply(
  { feedback, entryId }: TellingItem,
  rules: TellRules,
  now: number,
  isLate: boolean,
  onlyOfKey?: string,
): MailWork<ToldResult> {
  const result = resultOf(feedback);
  const about = yield* find(feedback, onlyOfKey);
  if (about === null) return result;
  const { mail, recipient } = about;
  const { source, kind } = feedback;
  const at = feedback.at ?? now;
  const matched = { ...result, verdict: 'matched', messageId: mail.id } as const;
  if (recipient === null) {
    const type = eventWithoutRecipient(kind);
    if (type === null) return matched;
    yield event(mail.id, null, type, at, { source });
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
  yield event(mail.id, index, type, at, {
    ...factsOf(consequence, relay, feedback),
    ...(told !== null && { bounce: told }),
    ...(entry !== null && { suppression: entry.id }),
  });
  return { ...named, changed: true, bounce: told, entry };
}

function factsOf({ bounces }: Consequence, relay: string | null, { source, bounce }: Feedback): EventFacts {
  const { code, enhancedCode, text } = bounce;
  return {
    ...(relay !== null && { relay }),
    ...(bounces && { outcome: 'bounced' }),
    ...(code !== null && { code }),
    ...(enhancedCode !== null && { enhanced: enhancedCode }),
    ...(text !== '' && { text }),
    source,
  };
}

function event(id: string, index: number | null, type: EventType, at: number, facts: EventFacts): MailStep {
  return { mail: 'event', id, type, index, at, facts };
}

// Which message, and which recipient.

interface About {
  readonly mail: OpenMail;
  readonly recipient: OpenRecipient | null;
}

/** The first of the names that leads to a message counts; to one of that key, if it may be of no other. */
function* find(feedback: Feedback, key: string | undefined): MailWork<About | null> {
  const { token, id, providerMessageId, messageId } = feedback.message;
  if (token !== null) {
    const mail = yield* open(token.id, key);
    if (mail !== null) return { mail, recipient: recipientIn(mail.recipients, token.recipient, feedback) };
  }
  const ofId = id === null ? null : yield* open(id, key);
  if (ofId !== null) return { mail: ofId, recipient: recipientIn(ofId.recipients, null, feedback) };
  if (providerMessageId !== null) {
    const about = yield* findByProvider(providerMessageId, feedback, key);
    if (about !== null) return about;
  }
  return messageId === null ? null : yield* findByMessageId(messageId, feedback, key);
}

/** A relay gives an id to what it got at once: only these recipients can be meant. */
function* findByProvider(
  providerId: string,
  feedback: Feedback,
  key: string | undefined,
): MailWork<About | null> {
  const relay = feedback.source.startsWith('webhook:') ? feedback.source.slice('webhook:'.length) : null;
  // The step's answer is what its type says.
  const named = (yield { mail: 'by_provider_id', providerId, relay }) as readonly NamedDelivery[];
  const [first] = named;
  const mail = first === undefined ? null : yield* open(first.id, key);
  if (mail === null) return null;
  const indexes = new Set(named.flatMap(({ id, index }) => (id === mail.id ? [index] : [])));
  const recipients = mail.recipients.filter(({ index }) => indexes.has(index));
  return { mail, recipient: recipientIn(recipients, null, feedback) };
}

/** Senders repeat a Message-ID: the newest message with this recipient is meant, or the newest. */
function* findByMessageId(
  messageId: string,
  feedback: Feedback,
  key: string | undefined,
): MailWork<About | null> {
  // As above.
  const ids = (yield { mail: 'by_message_id', messageId, limit: MAX_NAMESAKES }) as readonly string[];
  let newest: About | null = null;
  for (const id of ids) {
    const mail = yield* open(id, key);
    if (mail === null) continue;
    const recipient = recipientIn(mail.recipients, null, feedback);
    if (recipient !== null) return { mail, recipient };
    newest ??= { mail, recipient };
  }
  return newest;
}

function* open(id: string, key?: string): MailWork<OpenMail | null> {
  // As above.
  const mail = (yield { mail: 'open', id }) as OpenMail | null;
  return key !== undefined && mail?.keyId !== key ? null : mail;
}

/** By its number, else by its address or another name of it, else the only one. */
function recipientIn(
  recipients: readonly OpenRecipient[],
  number: number | null,
  { recipient, alternatives = [] }: Feedback,
): OpenRecipient | null {
  if (number !== null) return recipients.find(({ index }) => index === number) ?? null;
  for (const address of recipient === null ? alternatives : [recipient, ...alternatives]) {
    const found = recipients.find((one) => lowerAscii(one.address) === lowerAscii(address));
    if (found !== undefined) return found;
  }
  return recipients.length === 1 ? (recipients[0] ?? null) : null;
}

// What is known of recipients.

interface AftermathRow extends Omit<Aftermath, 'bounce'> {
  readonly bounce: string | null;
}

const NOTHING_KNOWN: Aftermath = {
  confirmedAt: null,
  bounce: null,
  complainedAt: null,
  unsubscribedAt: null,
  suppression: null,
};

function* aftermathOf(id: string, index: number): Work<Aftermath> {
  const [row] = yield* rows<AftermathRow>`SELECT confirmed_at AS "confirmedAt", bounce,
    complained_at AS "complainedAt", unsubscribed_at AS "unsubscribedAt", suppression
    FROM aftermath WHERE message = ${id} AND idx = ${index}`;
  if (row === undefined) return NOTHING_KNOWN;
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

// The suppression list.

/** What may suppress an address. */
interface SuppressionCause {
  readonly suppresses: BounceType | 'complaint' | 'unsubscribe';
  readonly source: FeedbackSource;
  readonly evidence: NonNullable<Suppression['evidence']>;
  readonly entryId: string;
}

/** Makes or renews the entry that follows, if one does. */
function* suppress(
  mail: OpenMail,
  { address: recipient }: OpenRecipient,
  { suppresses, source, evidence, entryId }: SuppressionCause,
  rules: TellRules,
  now: number,
): Work<ToldEntry | null> {
  const { address, domain } = suppressedOf(recipient);
  const reason =
    suppresses === 'complaint' || suppresses === 'unsubscribe'
      ? suppresses
      : yield* reasonOfBounce(suppresses, address, rules, now);
  if (reason === null || (isHeldBack(reason) && rules.guarded.includes(domain))) return null;
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
  { softBounces: limit }: TellRules,
  now: number,
): Work<SuppressionReason | null> {
  if (type !== 'soft') return suppressionBy(type, 0, limit);
  if (limit === 0) return null;
  const [row] = yield* rows<{ times: string }>`SELECT times FROM soft_bounces WHERE address = ${address}`;
  // A delivery has removed what was before it.
  const times = [...(row === undefined ? [] : fromJson<number[]>(row.times)), now].slice(-limit);
  const reason = suppressionBy(type, softBouncesInARow(times, null, now), limit);
  if (reason !== null) yield* send`DELETE FROM soft_bounces WHERE address = ${address}`;
  else
    yield* send`INSERT INTO soft_bounces (address, times, last_at) VALUES (${address}, ${JSON.stringify(times)}, ${now})
      ON CONFLICT (address) DO UPDATE SET times = excluded.times, last_at = excluded.last_at`;
  return reason;
}
