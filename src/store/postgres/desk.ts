import { deriveStatus } from '../../domain/delivery.ts';
import type { Queries } from '../../postgres/database.ts';
import { indexable } from '../../postgres/text.ts';
import type { AcceptDelivery, AcceptRecord } from '../accepting.ts';
import { fromCopies, fromGroup, rankOf } from '../columns.ts';
import { gaugeOf } from '../counting.ts';
import type { Stamp } from '../store.ts';
import type { EventLog } from './events.ts';
import type { Lanes } from './lanes.ts';
import { DELIVERIES, type DeliveryRow, MESSAGES, type MessageRow } from './tables.ts';
import type { Tallies } from './tallies.ts';

/** Takes in accepted messages, with everything that follows; `write` writes them all at once. */
export class Desk {
  readonly #db: Queries;
  readonly #lanes: Lanes;
  readonly #tallies: Tallies;
  readonly #events: EventLog;
  readonly #messages: MessageRow[] = [];
  readonly #deliveries: DeliveryRow[] = [];
  readonly #tags: { readonly keyId: string; readonly tag: string; readonly id: string }[] = [];

  constructor(db: Queries, lanes: Lanes, tallies: Tallies, events: EventLog) {
    this.#db = db;
    this.#lanes = lanes;
    this.#tallies = tallies;
    this.#events = events;
  }

  /** Takes in a message. Returns for each delivery whether it took the short way; those lanes must be locked. */
  enter(record: AcceptRecord, at: Stamp): boolean[] {
    const leased = record.deliveries.map((delivery) => this.#takesShortWay(delivery, at));
    this.#enter(record, leased, at);
    return leased;
  }

  /**
   * Takes in a report on a delivery. It does not take the short way, since nobody would hear of the lease: it waits.
   */
  enterReport(report: AcceptRecord, at: Stamp): void {
    this.#enter(
      report,
      report.deliveries.map(() => false),
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

  #enter(record: AcceptRecord, leased: readonly boolean[], at: Stamp): void {
    const tallies = this.#tallies;
    const { content, keyId } = record;
    const message = messageRow(record, leased, at.now);
    this.#messages.push(message);
    for (const [index, delivery] of record.deliveries.entries()) {
      const short = leased[index] === true;
      tallies.lane(delivery.lane, short ? 0 : 1, short ? 1 : 0);
      this.#deliveries.push(deliveryRow(record, index, delivery, short));
    }
    for (const tag of record.tags)
      this.#tags.push({ keyId: keyId ?? '', tag: indexable(tag), id: record.id });
    const gauge = gaugeOf(message.status, true);
    if (gauge !== null) tallies.gauge(gauge, 1);
    tallies.queue(keyId, 1, content.length);
    tallies.segment(content.segment, 1, content.length);
    tallies.count('received', at);
    this.#events.queued(record.id, at.now);
  }
}

function messageRow(record: AcceptRecord, leased: readonly boolean[], now: number): MessageRow {
  const processing = leased.filter(Boolean).length;
  const counts = { queued: leased.length - processing, processing, retrying: 0, delivered: 0, failed: 0 };
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
    sourceAddress,
    reversePath,
    ret,
    envid,
    sizeBytes,
    ...counts,
    ...content,
    ...flags,
    status: deriveStatus(counts),
    attempts: 0,
    kept: null,
    possibleDuplicate: false,
    lastError: null,
    updatedAt: now,
    statusAt: now,
    deliveredAt: null,
    finalAt: null,
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
