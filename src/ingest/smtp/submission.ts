import { addressKey } from '../../domain/mailbox.ts';
import type { Content, Recipient, Submission } from '../../domain/message.ts';
import { inSlices, turnFor } from '../../lib/clock.ts';
import { authorsOf } from '../../mail/field-values.ts';
import { MAX_RECEIVED, missingFields } from '../../mail/finished.ts';
import {
  type HandedIn,
  MAX_HANDED_IN_HEADER,
  passOn,
  readHandedIn,
  recipientKinds,
} from '../../mail/handed-in.ts';
import { fieldValue } from '../../mail/header-block.ts';
import { receivedHeader, type Trace } from '../../mail/trace.ts';
import type { TakenEnvelope } from '../../smtp/receiver/effect.ts';
import { SUPPRESSION_SCOPE, streamOf, tlsDemandOf } from '../message-rules.ts';
import { type UnsubscribeTerms, withOwnCopies } from '../unsubscribing.ts';
import { type Instructions, isInstruction, NO_INSTRUCTIONS, readInstructions } from './instructions.ts';
import type { MessageLimits } from './options.ts';
import {
  isBoundTo,
  isBoundToDomains,
  isStranger,
  maySendAs,
  type Origin,
  ownerIdOf,
  signingRightsOf,
} from './origin.ts';
import { decline, deny, type Refusal, senderNotAllowed } from './refusal.ts';

/** A message's content as received: CRLF lines, the last one ended, dots unstuffed; no NUL, bare CR or bare LF. */
export interface ReceivedContent {
  readonly chunks: readonly Buffer[];
  readonly sizeBytes: number;
  /** Some line may begin with a dot. */
  readonly dotStuffing: boolean;
}

/** Facts of a message besides its envelope, content and origin. */
export interface MessageContext {
  /** Assigned by the intake. */
  readonly id: string;
  /** Wall ms. */
  readonly now: number;
  /** Our host name. */
  readonly hostname: string;
  /** The recipient of mail to `<postmaster>`. */
  readonly postmaster: string;
  readonly requestId: string;
  /** The client's name in EHLO or HELO. */
  readonly hello: string;
  readonly protocol: Exclude<Trace['protocol'], 'HTTP' | 'HTTPS'>;
  /** Whether the Received field shows the client's name and address. */
  readonly receivedClient: boolean;
  readonly limits: Pick<MessageLimits, 'maxTags' | 'maxMetadata'>;
  /** Registered sending domains. */
  readonly domains: ReadonlySet<string>;
}

/** A submission, or the refusal. */
export type Built =
  | {
      readonly ok: true;
      readonly submission: Submission & { readonly id: string };
      /** The stream from which its recipients are to be able to unsubscribe; see {@link individually}. */
      readonly unsubscribe: string | null;
    }
  | { readonly ok: false; readonly refusal: Refusal };

const HEADER_TOO_LARGE = decline(
  'header_too_large',
  552,
  '5.3.4',
  `The header is larger than ${MAX_HANDED_IN_HEADER} bytes; shorten it, or put an empty line between header and body`,
);
const LOOP = decline(
  'mail_loop',
  554,
  '5.4.6',
  `There are more than ${MAX_RECEIVED} Received fields: the message is in a loop; find out where it comes from`,
);
const UNREADABLE_AUTHORS = deny(
  'sender_not_allowed',
  550,
  '5.7.1',
  'From or Sender is ambiguous, and you may use only some sender domains; write each as in "Jane <jane@example.com>", with neither "@" nor quotes in the name',
);
/** On SMTP the key alone decides what a repeat is (contract §10). */
const SAME_FOR_ALL = 'smtp';
const ASCII = /^[\0-\x7f]*$/;

/**
 * Makes a submission of a message received over SMTP. Its text is not checked. Refused are oversized headers, loops,
 * faulty instructions of a client that may give them, and senders that the client may not use.
 */
export function buildSubmission(
  envelope: TakenEnvelope,
  content: ReceivedContent,
  origin: Origin,
  context: MessageContext,
): Built {
  const message = readHandedIn(content.chunks, MAX_HANDED_IN_HEADER);
  if (message === null) return { ok: false, refusal: HEADER_TOO_LARGE };
  if (message.received > MAX_RECEIVED) return { ok: false, refusal: LOOP };
  const read = instructionsOf(message, origin, context);
  if (!read.ok) return read;
  const refusal = senderRefusal(envelope, message, origin) ?? ignoringRefusal(read.instructions, origin);
  if (refusal !== null) return { ok: false, refusal };
  return {
    ok: true,
    submission: submissionOf(envelope, { message, content }, read.instructions, origin, context),
    unsubscribe: read.instructions.unsubscribe,
  };
}

/** The submission with a copy for each recipient, from which it can unsubscribe. */
export async function individually(
  { submission, unsubscribe }: Extract<Built, { ok: true }>,
  terms: UnsubscribeTerms,
  maxBytes: number,
): Promise<Built> {
  if (unsubscribe === null) return { ok: true, submission, unsubscribe };
  const made = await inSlices(
    withOwnCopies(submission, unsubscribe, terms, maxBytes),
    turnFor(submission.content.sizeBytes),
  );
  if (made.kind === 'individual') return { ok: true, submission: made.submission, unsubscribe: null };
  const refusal =
    made.kind === 'too_large'
      ? decline('message_too_large', 552, '5.3.4', copiesTooLarge(made.sizeBytes, maxBytes))
      : decline('unsubscribe_unavailable', 550, '5.6.0', `X-Waybill-Unsubscribe: ${made.detail}`);
  return { ok: false, refusal };
}

function copiesTooLarge(sizeBytes: number, maxBytes: number): string {
  return `Every recipient gets a copy with a link to unsubscribe, and all copies have ${sizeBytes} bytes, more than ${maxBytes} (api.max_message_bytes); send to fewer recipients at once`;
}

/** Instructions apply only to messages with an owner, who may look at them. */
function instructionsOf({ header }: HandedIn, origin: Origin, { limits, now }: MessageContext) {
  if (ownerIdOf(origin) !== null) return readInstructions(header.fields, limits, now);
  return { ok: true, instructions: NO_INSTRUCTIONS } as const;
}

/** The envelope's sender, and every author, must be on a domain that the client may use (contract §9). */
function senderRefusal({ reversePath }: TakenEnvelope, { header }: HandedIn, origin: Origin): Refusal | null {
  if (!isBoundToDomains(origin)) return null;
  const authors = authorsOf(header.fields);
  if (authors === null) return UNREADABLE_AUTHORS;
  const senders = reversePath.mailbox === null ? authors : [reversePath.mailbox, ...authors];
  const foreign = senders.find(({ domain }) => !maySendAs(origin, domain));
  return foreign === undefined ? null : senderNotAllowed(origin, foreign.domain);
}

/** Whoever ignores the suppression list needs a key that may change it. */
function ignoringRefusal({ ignoresSuppression }: Instructions, { key }: Origin): Refusal | null {
  if (!ignoresSuppression || key?.scopes.includes('suppressions:write')) return null;
  return deny('scope_missing', 550, '5.7.1', `X-Waybill-Suppression: ${SUPPRESSION_SCOPE}`);
}

/** A message and its source bytes. */
interface Handed {
  readonly message: HandedIn;
  readonly content: ReceivedContent;
}

function submissionOf(
  envelope: TakenEnvelope,
  handed: Handed,
  instructions: Instructions,
  origin: Origin,
  context: MessageContext,
): Submission & { readonly id: string } {
  const { message } = handed;
  const { mailbox, ret, envid } = envelope.reversePath;
  const { metadata, sendAt, priority, idempotencyKey } = instructions;
  const box = instructions.box ?? origin.box;
  const reversePath = mailbox?.address ?? '';
  const recipients = recipientsOf(envelope, message, context.postmaster);
  const messageId = message.messageId ?? `<${context.id}@${context.hostname}>`;
  const missing = missingFields(message, { date: sendAt ?? context.now, messageId });
  const prepend = traceOf(recipients, origin, context) + missing;
  return {
    id: context.id,
    envelope: { reversePath, recipients, ret, envid },
    content: contentOf(handed, prepend, {
      saidUtf8: envelope.reversePath.utf8,
      addresses: [reversePath, ...recipients.map(({ address }) => address)],
    }),
    header: { from: message.from ?? reversePath, subject: message.subject, messageId },
    tags: tagsOf(instructions, origin),
    metadata,
    sendAt,
    priority,
    stream: streamOf(instructions.stream, fieldValue(message.header.fields, 'list-id')),
    ignoresSuppression: instructions.ignoresSuppression,
    source: 'smtp',
    ...(box !== null && { box }),
    ...tlsDemandOf(envelope.reversePath.requireTls, message.header.fields),
    sourceAddress: origin.address,
    requestId: context.requestId,
    keyId: ownerIdOf(origin),
    keyName: origin.key?.name ?? null,
    reportable: isReportable(envelope, origin, context.domains),
    signing: signingRightsOf(origin),
    test: origin.key?.mode === 'test',
    idempotency: idempotencyKey === null ? null : { key: idempotencyKey, hash: SAME_FOR_ALL },
  };
}

/**
 * Whether reports may go to the reverse-path: only if its domain is known to be the client's own, or is one of this
 * installation's whose mail the client may send. Any other may be forged, and the report would hit a stranger
 * (backscatter).
 */
function isReportable(
  { reversePath: { mailbox } }: TakenEnvelope,
  origin: Origin,
  domains: ReadonlySet<string>,
): boolean {
  if (mailbox === null || origin.key?.mode === 'test') return false;
  if (isBoundTo(origin, mailbox.domain)) return true;
  return domains.has(mailbox.domain) && !isStranger(origin) && maySendAs(origin, mailbox.domain);
}

/** Each address once: the first mention counts, with its parameters. */
function recipientsOf(
  { forwardPaths }: TakenEnvelope,
  message: HandedIn,
  postmaster: string,
): readonly Recipient[] {
  const kindOf = recipientKinds(message);
  const recipients = new Map<string, Recipient>();
  for (const { mailbox, notify, orcpt } of forwardPaths) {
    const address = mailbox?.address ?? postmaster;
    const key = addressKey(address);
    if (!recipients.has(key)) recipients.set(key, { address, kind: kindOf(address), notify, orcpt });
  }
  return [...recipients.values()];
}

function traceOf(recipients: readonly Recipient[], origin: Origin, context: MessageContext): string {
  const { hello, hostname, protocol, id, now, receivedClient } = context;
  const [only, ...others] = recipients;
  return receivedHeader({
    byHost: hostname,
    fromAddress: receivedClient ? origin.address : null,
    protocol,
    id,
    date: now,
    ...(receivedClient && { fromName: hello }),
    ...(only !== undefined && others.length === 0 && { for: only.address }),
  });
}

/** The tags of the instructions, and those of the named source that owns the message. */
function tagsOf({ tags }: Instructions, { key, source }: Origin): readonly string[] {
  if (key !== null || source === null || source.tags.length === 0) return tags;
  return [...new Set([...tags, ...source.tags])];
}

/**
 * The message as it is sent on. If the client did not say SMTPUTF8, raw 8-bit text in the header does not require it of
 * the next hop: it may be in any charset, and arrived without.
 */
function contentOf(
  { message, content: { dotStuffing } }: Handed,
  prepend: string,
  { saidUtf8, addresses }: { readonly saidUtf8: boolean; readonly addresses: readonly string[] },
): Content {
  const { chunks, eightBit, eightBitHeader } = passOn(message, prepend, isInstruction);
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const utf8 = (saidUtf8 && eightBitHeader) || !addresses.every((address) => ASCII.test(address));
  return { chunks, sizeBytes, flags: { eightBit, utf8, dotStuffing } };
}
