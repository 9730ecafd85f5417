import type { DeliveryState, MessageStatus } from '../../domain/delivery.ts';
import type { ProviderName } from '../../domain/drop-in.ts';
import type { LastError, MessageRecord, RecipientKind, Source, TlsDemand } from '../../domain/message.ts';
import type { OutcomeName } from '../../domain/outcome.ts';
import { summarizeRecipients } from '../../domain/summary.ts';
import { copiesOf, fromJson, groupOf, priorityOf } from '../columns.ts';
import { type CountedEvent, dayOf, type GaugeName, minuteOf, RECENT_MINUTES } from '../counting.ts';
import type { Figures, RecipientRecord } from '../views.ts';
import type { InSnapshot } from './connection.ts';
import type { Driver } from './driver.ts';

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
  copies: string | null,
  door: ProviderName | null,
  box: string | null,
  tls: TlsDemand | null,
  inboxRead: number,
  inboxTags: string | null,
];

export const MESSAGE_COLUMNS = `seq, id, key_id, status, attempts, possible_duplicate, last_error, created_at, updated_at,
  status_at, delivered_at, final_at, not_before, expires_at, priority, test, source, reverse_path, header_from, subject,
  message_id, tags, metadata, size_bytes, eight_bit, utf8, dot_stuffing, segment, offset, length,
  copies, door, box, tls, inbox_read, inbox_tags`;

/** Reads a message, given its recipients. */
export function messageOf(row: MessageRow, recipients: readonly RecipientRecord[]): MessageRecord {
  const [, id, keyId, status, attempts, possibleDuplicate, lastError, createdAt, updatedAt, ...later] = row;
  const [statusAt, deliveredAt, finalAt, notBefore, expiresAt, rank, test, source, reversePath, ...rest] =
    later;
  const [from, subject, messageId, tags, metadata, sizeBytes, eightBit, utf8, dotStuffing, ...content] = rest;
  const [segment, offset, length, copies, door, box, tls, inboxRead, inboxTags] = content;
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
    tls,
    priority: priorityOf(rank),
    source,
    door,
    box,
    test: test === 1,
    attempts,
    lastError: lastError === null ? null : fromJson<LastError>(lastError),
    content: segment === null || offset === null || length === null ? null : { segment, offset, length },
    copies: copiesOf(copies),
    inboxRead: inboxRead === 1,
    inboxTags: inboxTags === null ? null : fromJson<string[]>(inboxTags),
    possibleDuplicate: possibleDuplicate === 1,
  };
}

/** Builds the view `figures`: reads counters and gauges as they are, and counts nothing. */
export function figuresView(db: Driver, inSnapshot: InSnapshot): (now: number) => Figures {
  const sql = prepareFigures(db);
  return (now) =>
    inSnapshot(() => {
      const today = sums('day', dayOf(now));
      const recent = sums('minute', minuteOf(now) - RECENT_MINUTES + 1);
      const gauges = new Map(sql.gauges.all());
      const gauge = (name: GaugeName) => gauges.get(name) ?? 0;
      return {
        today: {
          received: today('received'),
          delivered: today('delivered'),
          failed: today('failed'),
          retried: today('retried'),
          denied: today('denied'),
        },
        last5m: { received: recent('received'), sent: recent('delivered') },
        spool: {
          incoming: gauge('incoming'),
          processing: gauge('processing'),
          failed: gauge('failed_kept'),
        },
        relays: relaysOf(now),
        queuedBytes: gauge('queued_bytes'),
        sentBytes: gauge('sent_bytes'),
        capturedBytes: gauge('captured_bytes'),
        oldestDueAt: sql.oldestDue.get(now)?.[0] ?? null,
        possibleDuplicates: gauge('possible_duplicates'),
        restored: gauge('restored'),
        databaseBytes: sql.bytes.get()?.[0] ?? 0,
      };
    });

  function sums(period: 'day' | 'minute', since: number): (event: CountedEvent) => number {
    const counts = new Map(sql.sums.all(period, since));
    return (event) => counts.get(event) ?? 0;
  }

  function relaysOf(now: number): Figures['relays'] {
    const relays: Record<string, { delivered: number; failed: number }> = {};
    for (const [relay, delivered, failed] of sql.relays.all(dayOf(now)))
      relays[relay] = { delivered, failed };
    return relays;
  }
}

function prepareFigures(db: Driver) {
  return {
    sums: db.prepare<[period: string, since: number], [event: string, count: number]>(
      'SELECT event, sum(count) FROM counters WHERE period = ? AND start >= ? GROUP BY event',
    ),
    relays: db.prepare<[day: number], [relay: string, delivered: number, failed: number]>(
      `SELECT relay, sum(iif(event = 'relay_delivered', count, 0)), sum(iif(event = 'relay_failed', count, 0))
       FROM counters WHERE period = 'day' AND start >= ? AND relay <> '' GROUP BY relay`,
    ),
    gauges: db.prepare<[], [name: string, value: number]>('SELECT name, value FROM gauges'),
    oldestDue: db.prepare<[now: number], [dueAt: number | null]>(
      'SELECT min(first_due) FROM lanes WHERE first_due <= ?',
    ),
    bytes: db.prepare<[], [bytes: number]>(
      'SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()',
    ),
  };
}
