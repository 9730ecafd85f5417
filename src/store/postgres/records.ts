import type { LastError, MessageRecord } from '../../domain/message.ts';
import { summarizeRecipients } from '../../domain/summary.ts';
import type { Queries } from '../../postgres/database.ts';
import { copiesOf, fromJson, groupOf, priorityOf } from '../columns.ts';
import type { MessageDetail, RecipientRecord } from '../views.ts';
import { DELIVERIES, type DeliveryRow, inSpan, MESSAGES, type MessageRow, spanned } from './tables.ts';

/** A message as shown, and as read. */
export interface Detail extends Omit<MessageDetail, 'aftermath'> {
  readonly row: ShownRow;
}

/** A message with what only people and programs that read it see: accepting and delivering it leave that alone. */
interface ShownRow extends MessageRow {
  readonly inboxRead: boolean;
  readonly inboxTags: string | null;
}

/** Reads messages with their recipients, by one statement: those that exist, in the order of the ids. */
export async function readDetails(db: Pick<Queries, 'rows'>, ids: readonly string[]): Promise<Detail[]> {
  const rows = await db.rows<ShownRow & { deliveries: DeliveryRow[] }>(READ, spanned(ids));
  return rows.map(({ deliveries, ...row }) => {
    const recipients = deliveries.map(recipientOf);
    const { sourceAddress, routeTable, stream } = row;
    const origin = { sourceAddress, routeTable, stream };
    return { row, recipients, message: messageOf(row, recipients), origin };
  });
}

function recipientOf(row: DeliveryRow): RecipientRecord {
  const { index, address, kind, state, outcome, relay, lane, attempts, providerMessageId } = row;
  const { lastCode, lastEnhanced, lastReply, dueAt, routeRule: rule, routeGroup } = row;
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
    group: groupOf(routeGroup),
  };
}

function messageOf(row: ShownRow, recipients: readonly RecipientRecord[]): MessageRecord {
  const { id, keyId, status, createdAt, updatedAt, statusAt, finalAt, deliveredAt, expiresAt } = row;
  const {
    sizeBytes,
    eightBit,
    utf8,
    dotStuffing,
    source,
    door,
    box,
    tls,
    test,
    attempts,
    possibleDuplicate,
  } = row;
  const { segment, offset, length } = row;
  return {
    id,
    keyId,
    status,
    createdAt,
    updatedAt,
    statusAt,
    finalAt,
    deliveredAt,
    expiresAt,
    sizeBytes,
    source,
    door,
    tls,
    box,
    test,
    attempts,
    possibleDuplicate,
    ...summarizeRecipients(recipients),
    sendAt: row.notBefore,
    envelopeFrom: row.reversePath,
    header: { from: row.headerFrom, subject: row.subject, messageId: row.messageId },
    tags: fromJson<string[]>(row.tags),
    metadata: fromJson<Record<string, string>>(row.metadata),
    flags: { eightBit, utf8, dotStuffing },
    priority: priorityOf(row.priority),
    lastError: row.lastError === null ? null : fromJson<LastError>(row.lastError),
    content: segment === null || offset === null || length === null ? null : { segment, offset, length },
    copies: copiesOf(row.copies),
    inboxRead: row.inboxRead,
    inboxTags: row.inboxTags === null ? null : fromJson<string[]>(row.inboxTags),
  };
}

/** Length of all text in a row. */
export function textLength(row: object): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  );
}

const READ = `SELECT ${MESSAGES.columns}, messages.inbox_read AS "inboxRead", messages.inbox_tags AS "inboxTags",
    recipients.deliveries
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, place) JOIN messages ON messages.id = wanted.id, LATERAL (
    SELECT coalesce(json_agg(one ORDER BY one.index), '[]') AS deliveries
    FROM (SELECT ${DELIVERIES.columns} FROM deliveries WHERE message = messages.id AND ${inSpan('message')}) AS one) AS recipients
  WHERE ${inSpan('messages.id')} ORDER BY place`;
