import type { DeliveryState, MessageStatus } from '../../domain/delivery.ts';
import type { RecipientKind } from '../../domain/envelope.ts';
import type { Source } from '../../domain/message.ts';
import type { OutcomeName } from '../../domain/outcome.ts';
import type { Kept } from '../counting.ts';
import { Table } from './table.ts';

/** The tables that verbs read and write as rows; what their columns mean, the migrations say. */

/** A message. */
export interface MessageRow {
  readonly id: string;
  readonly keyId: string | null;
  readonly status: MessageStatus;
  readonly queued: number;
  readonly processing: number;
  readonly retrying: number;
  readonly delivered: number;
  readonly failed: number;
  readonly attempts: number;
  readonly kept: Kept | null;
  readonly possibleDuplicate: boolean;
  readonly lastError: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly statusAt: number;
  readonly deliveredAt: number | null;
  readonly finalAt: number | null;
  readonly notBefore: number | null;
  readonly expiresAt: number;
  readonly priority: number;
  readonly test: boolean;
  readonly reportable: boolean;
  readonly source: Source;
  readonly sourceAddress: string | null;
  readonly reversePath: string;
  readonly ret: 'FULL' | 'HDRS' | null;
  readonly envid: string | null;
  readonly headerFrom: string;
  readonly subject: string;
  readonly messageId: string;
  readonly tags: string;
  readonly metadata: string;
  readonly sizeBytes: number;
  readonly eightBit: boolean;
  readonly utf8: boolean;
  readonly dotStuffing: boolean;
  readonly segment: number | null;
  readonly offset: number | null;
  readonly length: number | null;
  readonly routeTable: number;
}

export const MESSAGES = new Table<MessageRow>('messages', {
  id: 'text',
  keyId: 'text',
  status: 'text',
  queued: 'integer',
  processing: 'integer',
  retrying: 'integer',
  delivered: 'integer',
  failed: 'integer',
  attempts: 'integer',
  kept: 'text',
  possibleDuplicate: 'boolean',
  lastError: 'text',
  createdAt: 'bigint',
  updatedAt: 'bigint',
  statusAt: 'bigint',
  deliveredAt: 'bigint',
  finalAt: 'bigint',
  notBefore: 'bigint',
  expiresAt: 'bigint',
  priority: 'integer',
  test: 'boolean',
  reportable: 'boolean',
  source: 'text',
  sourceAddress: 'text',
  reversePath: 'text',
  ret: 'text',
  envid: 'text',
  headerFrom: 'text',
  subject: 'text',
  messageId: 'text',
  tags: 'text',
  metadata: 'text',
  sizeBytes: 'bigint',
  eightBit: 'boolean',
  utf8: 'boolean',
  dotStuffing: 'boolean',
  segment: 'bigint',
  offset: 'bigint',
  length: 'bigint',
  routeTable: 'integer',
});

/** What deciding on a message that is ours takes: what of it changes, and what follows from that. */
export const LEDGER_FIELDS = [
  ...(['id', 'keyId', 'status', 'queued', 'processing', 'retrying', 'delivered', 'failed'] as const),
  ...(['attempts', 'kept', 'possibleDuplicate', 'lastError', 'updatedAt', 'statusAt'] as const),
  ...(['deliveredAt', 'finalAt', 'notBefore', 'expiresAt', 'length'] as const),
] as const satisfies readonly (keyof MessageRow)[];

/** See {@link LEDGER_FIELDS}. */
export type LedgerRow = Pick<MessageRow, (typeof LEDGER_FIELDS)[number]>;

/** A delivery. What verbs change of it is not `readonly`. */
export interface DeliveryRow {
  readonly message: string;
  readonly index: number;
  state: DeliveryState;
  lane: string | null;
  relay: string | null;
  readonly priority: number;
  dueAt: number | null;
  expiresAt: number;
  fence: number | null;
  begunAt: number | null;
  cancelRequested: boolean;
  attempts: number;
  attemptsBefore: number;
  delayReported: boolean;
  outcome: OutcomeName | null;
  readonly address: string;
  readonly kind: RecipientKind;
  readonly notify: string | null;
  readonly orcpt: string | null;
  routeRule: string | null;
  routeGroup: string | null;
  providerMessageId: string | null;
  lastCode: number | null;
  lastEnhanced: string | null;
  lastReply: string | null;
}

export const DELIVERIES = new Table<DeliveryRow>('deliveries', {
  message: 'text',
  index: 'integer',
  state: 'text',
  lane: 'text',
  relay: 'text',
  priority: 'integer',
  dueAt: 'bigint',
  expiresAt: 'bigint',
  fence: 'bigint',
  begunAt: 'bigint',
  cancelRequested: 'boolean',
  attempts: 'integer',
  attemptsBefore: 'integer',
  delayReported: 'boolean',
  outcome: 'text',
  address: 'text',
  kind: 'text',
  notify: 'text',
  orcpt: 'text',
  routeRule: 'text',
  routeGroup: 'text',
  providerMessageId: 'text',
  lastCode: 'integer',
  lastEnhanced: 'text',
  lastReply: 'text',
});

/**
 * That a message, or a delivery, is not final, so that it lies by itself: statements that say so never look at the past, however
 * much of it is kept. No index is of just these deliveries: they are found by what else is asked.
 */
export const OPEN_MESSAGE = 'messages.kept IS NULL';
export const OPEN_DELIVERY = `deliveries.state IN ('queued', 'retrying', 'processing')`;

/** An attempt. */
export interface AttemptRow {
  readonly message: string;
  readonly number: number;
  readonly startedAt: number;
  readonly relay: string;
  readonly evidence: string;
  readonly results: string;
}

export const ATTEMPTS = new Table<AttemptRow>('attempts', {
  message: 'text',
  number: 'integer',
  startedAt: 'bigint',
  relay: 'text',
  evidence: 'text',
  results: 'text',
});
