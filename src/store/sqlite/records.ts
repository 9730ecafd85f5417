import type { DeliveryState, MessageStatus } from '../../domain/delivery.ts';
import type { RecipientKind } from '../../domain/envelope.ts';
import type { LastError, MessageRecord, Source } from '../../domain/message.ts';
import type { OutcomeName } from '../../domain/outcome.ts';
import { summarizeRecipients } from '../../domain/summary.ts';
import { fromJson, groupOf, priorityOf } from '../columns.ts';
import type { RecipientRecord } from '../views.ts';

/** A recipient as a row, in the order of {@link RECIPIENT_COLUMNS}. */
export type RecipientRow = [
  index: number,
  address: string,
  kind: RecipientKind,
  state: DeliveryState,
  outcome: OutcomeName | null,
  relay: string | null,
  attempts: number,
  providerMessageId: string | null,
  lastCode: number | null,
  lastEnhanced: string | null,
  lastReply: string | null,
  dueAt: number | null,
  rule: string | null,
  group: string | null,
  lane: string | null,
];

export const RECIPIENT_COLUMNS = `idx, address, kind, state, outcome, relay, attempts, provider_message_id, last_code,
  last_enhanced, last_reply, due_at, route_rule, route_group, lane`;

/** Reads a recipient. */
export function recipientOf(row: RecipientRow): RecipientRecord {
  const [index, address, kind, state, outcome, relay, attempts, providerMessageId] = row;
  const [, , , , , , , , lastCode, lastEnhanced, lastReply, dueAt, rule, group, lane] = row;
  return {
    index,
    address,
    kind,
    state,
    outcome,
    relay,
    lane,
    attempts,
    providerMessageId,
    lastCode,
    lastEnhanced,
    lastReply,
    dueAt,
    rule,
    group: groupOf(group),
  };
}

/** A message as a row, in the order of {@link MESSAGE_COLUMNS}. */
export type MessageRow = [
  seq: number,
  id: string,
  keyId: string | null,
  status: MessageStatus,
  attempts: number,
  possibleDuplicate: number,
  lastError: string | null,
  createdAt: number,
  updatedAt: number,
  statusAt: number,
  deliveredAt: number | null,
  finalAt: number | null,
  notBefore: number | null,
  expiresAt: number,
  rank: number,
  test: number,
  source: Source,
  reversePath: string,
  headerFrom: string,
  subject: string,
  messageId: string,
  tags: string,
  metadata: string,
  sizeBytes: number,
  eightBit: number,
  utf8: number,
  dotStuffing: number,
  segment: number | null,
  offset: number | null,
  length: number | null,
];

export const MESSAGE_COLUMNS = `seq, id, key_id, status, attempts, possible_duplicate, last_error, created_at, updated_at,
  status_at, delivered_at, final_at, not_before, expires_at, priority, test, source, reverse_path, header_from, subject,
  message_id, tags, metadata, size_bytes, eight_bit, utf8, dot_stuffing, segment, offset, length`;

/** Reads a message, given its recipients. */
export function messageOf(row: MessageRow, recipients: readonly RecipientRecord[]): MessageRecord {
  const [, id, keyId, status, attempts, possibleDuplicate, lastError, createdAt, updatedAt, ...later] = row;
  const [statusAt, deliveredAt, finalAt, notBefore, expiresAt, rank, test, source, reversePath, ...rest] =
    later;
  const [from, subject, messageId, tags, metadata, sizeBytes, eightBit, utf8, dotStuffing, ...content] = rest;
  const [segment, offset, length] = content;
  return {
    id,
    keyId,
    status,
    ...summarizeRecipients(recipients),
    createdAt,
    updatedAt,
    statusAt,
    finalAt,
    deliveredAt,
    sendAt: notBefore,
    expiresAt,
    envelopeFrom: reversePath,
    header: { from, subject, messageId },
    tags: fromJson<string[]>(tags),
    metadata: fromJson<Record<string, string>>(metadata),
    sizeBytes,
    flags: { eightBit: eightBit === 1, utf8: utf8 === 1, dotStuffing: dotStuffing === 1 },
    priority: priorityOf(rank),
    source,
    test: test === 1,
    attempts,
    lastError: lastError === null ? null : fromJson<LastError>(lastError),
    content: segment === null || offset === null || length === null ? null : { segment, offset, length },
    possibleDuplicate: possibleDuplicate === 1,
  };
}
