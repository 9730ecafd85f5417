import { z } from 'zod';
import { NO_AFTERMATH, ownBounce } from '../../domain/aftermath.ts';
import { isFinal } from '../../domain/delivery.ts';
import type { MessageRecord } from '../../domain/message.ts';
import { firstTry, waitOf } from '../../domain/next-try.ts';
import { type Clock, formatTimestamp } from '../../lib/clock.ts';
import type { Shown } from '../../operations/operation.ts';
import type { MessageDetail, RecipientRecord } from '../../store/views.ts';
import { type LanesSeen, nextTryOf, type Outlook } from '../service.ts';
import type { messageRecordSchema, statusRecordSchema } from './answers.ts';
import type { Call } from './call.ts';
import { type Findable, findReadable, readableId } from './find-message.ts';
import { asInteger, readParameters } from './query.ts';
import type { Watchers } from './watchers.ts';

/**
 * Messages as the API shows them (contract §3.1). A field that does not apply is `undefined`, which JSON omits; every
 * recipient has the same members.
 */

/** A message without its recipients' detail, as the API shows it. */
export type MessageJson = Shown<typeof messageRecordSchema>;
/** A message with its recipients, as the API shows it. */
export type StatusJson = Shown<typeof statusRecordSchema>;

/** Messages without their recipients' detail, as lists show them. */
export async function messagesJson(
  messages: readonly MessageRecord[],
  outlook: Outlook,
): Promise<MessageJson[]> {
  const lanes = await outlook(messages);
  return messages.map((message) => messageJson(message, lanes));
}

/** A message with its recipients. */
export async function statusJson(
  { message, recipients, aftermath }: MessageDetail,
  outlook: Outlook,
): Promise<StatusJson> {
  const lanes = await outlook([message]);
  return {
    ...messageJson(message, lanes),
    recipients: recipients.map((recipient) => ({
      ...recipientJson(recipient, message, lanes),
      ...aftermathJson(recipient, message, aftermath),
    })),
  };
}

/** A message without its recipients' detail. */
export function messageJson(message: MessageRecord, lanes: LanesSeen): MessageJson {
  const next = firstTry(message.waits.map((wait) => nextTryOf(message, wait, lanes)));
  return {
    id: message.id,
    status: message.status,
    providerMessageId: message.providerMessageId ?? undefined,
    timestamp: formatTimestamp(message.statusAt),
    durationMs: durationMs(message),
    createdAt: formatTimestamp(message.createdAt),
    updatedAt: formatTimestamp(message.updatedAt),
    deliveredAt: optionalTime(message.deliveredAt),
    nextAttemptAt: optionalTime(next?.at ?? null),
    waitingFor: next?.waitingFor,
    sendAt: optionalTime(message.sendAt),
    from: message.header.from,
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    subject: message.header.subject,
    tags: message.tags,
    metadata: message.metadata,
    sizeBytes: message.sizeBytes,
    messageId: message.header.messageId,
    source: message.source,
    door: message.door ?? undefined,
    box: message.box,
    tls: message.tls ?? undefined,
    priority: message.priority,
    relay: message.relay ?? undefined,
    attempts: message.attempts,
    outcome: message.outcome ?? undefined,
    lastError: message.lastError ?? undefined,
    // Beyond the contract's list, which allows additions: an operator must see the flag.
    possibleDuplicate: message.possibleDuplicate || undefined,
  };
}

function recipientJson(
  recipient: RecipientRecord,
  message: MessageRecord,
  lanes: LanesSeen,
): Omit<StatusJson['recipients'][number], keyof AftermathJson> {
  const wait = waitOf(recipient);
  const next = wait === null ? null : nextTryOf(message, wait, lanes);
  return {
    address: recipient.address,
    type: recipient.kind,
    status: recipient.state,
    outcome: recipient.outcome,
    relay: recipient.relay,
    attempts: recipient.attempts,
    providerMessageId: recipient.providerMessageId,
    lastCode: recipient.lastCode,
    lastEnhancedCode: recipient.lastEnhanced,
    lastReply: recipient.lastReply,
    nextAttemptAt: optionalTime(next?.at ?? null) ?? null,
    waitingFor: next?.waitingFor ?? null,
  };
}

type AftermathJson = Pick<
  StatusJson['recipients'][number],
  'confirmedAt' | 'bounce' | 'complainedAt' | 'unsubscribedAt' | 'suppression'
>;

function aftermathJson(
  recipient: RecipientRecord,
  { finalAt, updatedAt }: MessageRecord,
  aftermath: MessageDetail['aftermath'],
): AftermathJson {
  const known = aftermath.find(({ index }) => index === recipient.index) ?? NO_AFTERMATH;
  const bounce = known.bounce ?? ownBounce(recipient, finalAt ?? updatedAt);
  return {
    confirmedAt: optionalTime(known.confirmedAt) ?? null,
    bounce: bounce && { ...bounce, at: formatTimestamp(bounce.at) },
    complainedAt: optionalTime(known.complainedAt) ?? null,
    unsubscribedAt: optionalTime(known.unsubscribedAt) ?? null,
    // A retry by hand may have gone through since.
    suppression: recipient.outcome === 'suppressed' ? known.suppression : null,
  };
}

/** From when delivery could begin to the final outcome. */
function durationMs(message: MessageRecord): number | undefined {
  if (!isFinal(message.status) || message.finalAt === null) return undefined;
  return Math.max(0, message.finalAt - Math.max(message.createdAt, message.sendAt ?? 0));
}

function optionalTime(ms: number | null): string | undefined {
  return ms === null ? undefined : formatTimestamp(ms);
}

// `GET /api/v1/messages/{id}`: the message's status, now or, with `?wait=`, when it is final.

const MAX_WAIT_SECONDS = 60;
/** Some ends raise no event: a message may expire, or another node may settle it. So waiting readers also poll. */
const REREAD_MS = 1000;

/** The endpoint's parameters. */
// biome-ignore format: a table
export const STATUS_PARAMETERS = {
  wait: { schema: z.int().min(0).max(MAX_WAIT_SECONDS).optional(), fromText: asInteger, code: 'out_of_range', rule: `an integer from 0 to ${MAX_WAIT_SECONDS}`, meaning: 'Answers once the status is final (delivered or failed), or after that many seconds with the record as it is then.', example: '30' },
};

/** What the endpoint needs. */
interface StatusDeps {
  readonly views: Findable;
  readonly watchers: Watchers;
  readonly clock: Clock;
  readonly outlook: Outlook;
}

/** Answers with the record (contract §3.1). */
export async function answerStatus({ exchange, caller, params }: Call, deps: StatusDeps): Promise<void> {
  const { wait = 0 } = readParameters(exchange.query, STATUS_PARAMETERS);
  const waitMs = wait * 1000;
  const id = await readableId(params['id'] ?? '', caller.key, deps.views);
  const watch = waitMs > 0 ? deps.watchers.watch(id) : null;
  if (watch !== null) exchange.onEnd(() => watch.stop());
  const deadline = deps.clock.mono() + waitMs;
  for (;;) {
    const detail = await findReadable(id, caller.key, deps.views);
    const leftMs = deadline - deps.clock.mono();
    if (watch === null || watch.stopped || leftMs <= 0 || isFinal(detail.message.status)) {
      watch?.stop();
      // The client may have gone meanwhile; the answer is then harmlessly lost.
      return exchange.json(200, await statusJson(detail, deps.outlook));
    }
    await watch.wake.wait(deps.clock, Math.min(leftMs, REREAD_MS));
  }
}
