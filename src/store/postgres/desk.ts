import { deriveStatus } from '../../domain/delivery.ts';
import type { Suppression } from '../../domain/suppression.ts';
import type { Queries } from '../../postgres/database.ts';
import { indexable } from '../../postgres/text.ts';
import type { AcceptDelivery, AcceptRecord } from '../accepting.ts';
import { fromCopies, fromGroup, rankOf, suppressed } from '../columns.ts';
import { BYTES_GAUGE, gaugeOf } from '../counting.ts';
import { lastStopOf, NOBODY, type Stops } from '../stops.ts';
import type { Stamp } from '../store.ts';
import type { EventLog } from './events.ts';
import type { Lanes } from './lanes.ts';
import type { List } from './stopping.ts';
import { DELIVERIES, type DeliveryRow, MESSAGES, type MessageRow } from './tables.ts';
import type { Tallies } from './tallies.ts';

/** What the desk enters things into, and asks. */
interface DeskPeers {
  readonly lanes: Lanes;
  readonly tallies: Tallies;
  readonly events: EventLog;
  readonly list: List;
}

/** Takes in accepted messages, with everything that follows; `write` writes them all at once. */
export class Desk {
  readonly #db: Queries;
  readonly #lanes: Lanes;
  readonly #tallies: Tallies;
  readonly #events: EventLog;
  readonly #list: List;
  readonly #messages: MessageRow[] = [];
  readonly #deliveries: DeliveryRow[] = [];
  readonly #tags: { readonly keyId: string; readonly tag: string; readonly id: string }[] = [];

  constructor(db: Queries, { lanes, tallies, events, list }: DeskPeers) {
    this.#db = db;
    this.#lanes = lanes;
    this.#tallies = tallies;
    this.#events = events;
    this.#list = list;
  }

  /**
   * Takes in a message. Returns for each delivery whether it took the short way, for which lanes must be locked, and
   * those that the suppression list stops, for which it must have been looked at. Who is owed a report on it is stopped
   * before the first attempt, in the transaction that accepts the report.
   */
  enter(record: AcceptRecord, at: Stamp): { leased: boolean[]; stopped: Stops } {
    const stopped = record.reportable ? NOBODY : this.#list.ofRecord(record, at.now);
    const leased = record.deliveries.map(
      (delivery, index) => !stopped.has(index) && this.#takesShortWay(delivery, at),
    );
    this.#enter(record, leased, stopped, at);
    return { leased, stopped };
  }

  /**
   * Takes in a report on a delivery. It does not take the short way, since nobody would hear of the lease: it waits.
   */
  enterReport(report: AcceptRecord, at: Stamp): void {
    this.#enter(
      report,
      report.deliveries.map(() => false),
      this.#list.ofRecord(report, at.now),
      at,
    );
  }

  /** Writes what was taken in. */
  write(): void {
    const db = this.#db;
    MESSAGES.send(db, this.#messages);
    DELIVERIES.send(db, this.#deliveries);
    if (this.#messages.length > 0) db.send(INSERT_PENDING, [this.#messages.map(({ id }) => id)]);
    if (this.#tags.length > 0)
      db.send(INSERT_TAGS, [
        this.#tags.map(({ keyId }) => keyId),
        this.#tags.map(({ tag }) => tag),
        this.#tags.map(({ id }) => id),
      ]);
  }

  #takesShortWay({ lane, fence, dueAt }: AcceptDelivery, at: Stamp): boolean {
    return lane !== null && fence !== null && dueAt <= at.now && this.#lanes.holds({ lane, fence }, at);
  }

  #enter(record: AcceptRecord, leased: readonly boolean[], stopped: Stops, at: Stamp): void {
    const tallies = this.#tallies;
    const { content, keyId } = record;
    const message = messageRow(record, leased, stopped, at.now);
    this.#messages.push(message);
    for (const [index, delivery] of record.deliveries.entries()) {
      if (stopped.has(index)) continue;
      const short = leased[index] === true;
      tallies.lane(delivery.lane, short ? 0 : 1, short ? 1 : 0);
      this.#deliveries.push(deliveryRow(record, index, delivery, short));
    }
    for (const tag of record.tags)
      this.#tags.push({ keyId: keyId ?? '', tag: indexable(tag), id: record.id });
    const gauge = gaugeOf(message.status, true);
    if (gauge !== null) tallies.gauge(gauge, 1);
    if (message.status === 'failed') {
      tallies.gauge(BYTES_GAUGE.sent, content.length);
      tallies.count('failed', at);
    } else tallies.queue(keyId, 1, content.length);
    tallies.segment(content.segment, 1, content.length);
    tallies.count('received', at);
    this.#events.queued(record.id, at.now);
    for (const [index, entry] of stopped) this.#stop(record, index, entry, at);
  }

  #stop(record: AcceptRecord, index: number, { id, reason }: Suppression, at: Stamp): void {
    const delivery = record.deliveries[index];
    if (delivery === undefined) return;
    const transition = suppressed(delivery.recipient.address, reason);
    const { reply, outcome } = transition;
    const row = deliveryRow(record, index, delivery, false);
    this.#deliveries.push({
      ...row,
      outcome,
      state: 'failed',
      dueAt: null,
      lastCode: reply.code,
      lastEnhanced: reply.enhanced,
      lastReply: reply.text,
    });
    this.#list.stopped(record.id, index, id);
    this.#events.moved(record.id, index, null, transition, delivery.relay, at.now, id);
  }
}

function messageRow(
  record: AcceptRecord,
  leased: readonly boolean[],
  stopped: Stops,
  now: number,
): MessageRow {
  const processing = leased.filter(Boolean).length;
  const failed = stopped.size;
  const queued = leased.length - processing - failed;
  const counts = { queued, processing, retrying: 0, delivered: 0, failed };
  const status = deriveStatus(counts);
  const isOver = status === 'failed';
  const lastError = lastStopOf(record, stopped);
  const { header, flags, content, reportable, routeTable, stream, ignoresSuppression } = record;
  const { id, keyId, createdAt, expiresAt, test, source, sourceAddress, reversePath, ret, envid, sizeBytes } =
    record;
  return {
    id,
    keyId,
    createdAt,
    expiresAt,
    test,
    source,
    door: record.door ?? null,
    box: record.box ?? null,
    tls: record.tls ?? null,
    sourceAddress,
    reversePath,
    ret,
    envid,
    sizeBytes,
    ...counts,
    ...content,
    ...flags,
    status,
    attempts: 0,
    kept: isOver ? 'sent' : null,
    possibleDuplicate: false,
    lastError: lastError === null ? null : JSON.stringify(lastError),
    updatedAt: now,
    statusAt: now,
    deliveredAt: null,
    finalAt: isOver ? now : null,
    notBefore: record.sendAt,
    priority: rankOf(record.priority),
    reportable,
    stream,
    ignoresSuppression,
    copies: fromCopies(record.copies),
    headerFrom: header.from,
    subject: header.subject,
    messageId: header.messageId,
    tags: JSON.stringify(record.tags),
    metadata: JSON.stringify(record.metadata),
    routeTable,
  };
}

function deliveryRow(
  record: AcceptRecord,
  index: number,
  { recipient, lane, relay, rule, group, dueAt, fence }: AcceptDelivery,
  leased: boolean,
): DeliveryRow {
  const { address, kind, notify, orcpt } = recipient;
  return {
    index,
    lane,
    relay,
    address,
    kind,
    notify,
    orcpt,
    message: record.id,
    state: leased ? 'processing' : 'queued',
    priority: rankOf(record.priority),
    dueAt: leased ? null : dueAt,
    expiresAt: record.expiresAt,
    fence: leased ? fence : null,
    begunAt: null,
    cancelRequested: false,
    attempts: 0,
    attemptsBefore: 0,
    delayReported: false,
    outcome: null,
    routeRule: rule,
    routeGroup: fromGroup(group),
    providerMessageId: null,
    lastCode: null,
    lastEnhanced: null,
    lastReply: null,
  };
}

const INSERT_PENDING = 'INSERT INTO pending_words (id) SELECT * FROM unnest($1::text[])';
const INSERT_TAGS = `INSERT INTO message_tags (key_id, tag, id) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
  ON CONFLICT DO NOTHING`;
