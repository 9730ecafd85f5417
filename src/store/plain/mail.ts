import type { Bounce } from '../../domain/aftermath.ts';
import type { DeliveryState } from '../../domain/delivery.ts';
import type { EventFacts, EventType } from '../../domain/event.ts';
import type { Feedback } from '../../domain/feedback.ts';
import type { OutcomeName } from '../../domain/outcome.ts';
import { lowerAscii } from '../../domain/suppressed-address.ts';
import type { CountedEvent } from '../counting.ts';
import type { Step } from './work.ts';

/** The mail that something told is about: steps on it, and how it is found. */

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
  /** Writes an event of an open message; what happened may count under its relay. */
  | {
      readonly mail: 'event';
      readonly id: string;
      readonly type: EventType;
      readonly index: number | null;
      readonly at: number;
      readonly facts: EventFacts;
      readonly counted: CountedEvent | null;
    }
  /** Removes the contents of a final message: the segment that held them (null: none did). */
  | { readonly mail: 'forget'; readonly id: string }
  /** A message's texts have changed: its words are indexed anew. */
  | { readonly mail: 'reindex'; readonly id: string };

/** Work on plain rows, and on mail. */
export type MailWork<T> = Generator<Step | MailStep, T, unknown>;

/** See {@link MailStep}. */
export interface OpenMail {
  readonly id: string;
  readonly keyId: string | null;
  readonly test: boolean;
  readonly from: string;
  readonly stream: string | null;
  readonly tags: readonly string[];
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

/** What something told is about. */
export interface About {
  readonly mail: OpenMail;
  readonly recipient: OpenRecipient | null;
}

/**
 * Finds what is meant: the first of the names that leads to a message counts; to one of that key, if it may be of no
 * other. Null: nothing is.
 */
export function* findMail(feedback: Feedback, key: string | undefined): MailWork<About | null> {
  const { token, id, providerMessageId, messageId } = feedback.message;
  if (token !== null) {
    const mail = yield* openMail(token.id, key);
    if (mail !== null) return { mail, recipient: recipientIn(mail.recipients, token.recipient, feedback) };
  }
  const ofId = id === null ? null : yield* openMail(id, key);
  if (ofId !== null) return { mail: ofId, recipient: recipientIn(ofId.recipients, null, feedback) };
  if (providerMessageId !== null) {
    const about = yield* findByProvider(providerMessageId, feedback, key);
    if (about !== null) return about;
  }
  return messageId === null ? null : yield* findByMessageId(messageId, feedback, key);
}

/**
 * A relay gives an id to what it got at once: only these recipients can be meant. Who is named and is another recipient of the
 * message was among them, and has been retried since: then none of those is meant.
 */
function* findByProvider(
  providerId: string,
  feedback: Feedback,
  key: string | undefined,
): MailWork<About | null> {
  const relay = feedback.source.startsWith('webhook:') ? feedback.source.slice('webhook:'.length) : null;
  // The step's answer is what its type says.
  const found = (yield { mail: 'by_provider_id', providerId, relay }) as readonly NamedDelivery[];
  const [first] = found;
  const mail = first === undefined ? null : yield* openMail(first.id, key);
  if (mail === null) return null;
  const indexes = new Set(found.flatMap(({ id, index }) => (id === mail.id ? [index] : [])));
  const recipients = mail.recipients.filter(({ index }) => indexes.has(index));
  const isOther = namedIn(recipients, feedback) === null && namedIn(mail.recipients, feedback) !== null;
  return { mail, recipient: isOther ? null : recipientIn(recipients, null, feedback) };
}

/**
 * Senders repeat a Message-ID, and others split a message by its recipients: the newest with this recipient is meant. If
 * none has it, nobody knows which recipient is, except where there is only one message.
 */
function* findByMessageId(
  messageId: string,
  feedback: Feedback,
  key: string | undefined,
): MailWork<About | null> {
  // As above.
  const ids = (yield { mail: 'by_message_id', messageId, limit: MAX_NAMESAKES }) as readonly string[];
  let newest: About | null = null;
  for (const id of ids) {
    const mail = yield* openMail(id, key);
    if (mail === null) continue;
    const recipient = namedIn(mail.recipients, feedback);
    if (recipient !== null) return { mail, recipient };
    newest ??= { mail, recipient: ids.length === 1 ? onlyOne(mail.recipients) : null };
  }
  return newest;
}

/** Opens a message; null if there is none, or not of that key. */
export function* openMail(id: string, key?: string): MailWork<OpenMail | null> {
  // As above.
  const mail = (yield { mail: 'open', id }) as OpenMail | null;
  return key !== undefined && mail?.keyId !== key ? null : mail;
}

/** By its number, else by its address or another name of it, else the only one. */
function recipientIn(
  recipients: readonly OpenRecipient[],
  number: number | null,
  feedback: Feedback,
): OpenRecipient | null {
  if (number !== null) return recipients.find(({ index }) => index === number) ?? null;
  return namedIn(recipients, feedback) ?? onlyOne(recipients);
}

/** By its address, or another name of it. */
function namedIn(
  recipients: readonly OpenRecipient[],
  { recipient, alternatives = [] }: Feedback,
): OpenRecipient | null {
  for (const address of recipient === null ? alternatives : [recipient, ...alternatives]) {
    const found = recipients.find((one) => lowerAscii(one.address) === lowerAscii(address));
    if (found !== undefined) return found;
  }
  return null;
}

function onlyOne(recipients: readonly OpenRecipient[]): OpenRecipient | null {
  return recipients.length === 1 ? (recipients[0] ?? null) : null;
}
