import {
  type DeliveryState,
  deriveStatus,
  isFinal,
  mayTransition,
  type TransitionCause,
} from '../../domain/delivery.ts';
import type { LastError } from '../../domain/message.ts';
import type { Queries } from '../../postgres/database.ts';
import { fromJson } from '../columns.ts';
import { BYTES_GAUGE, eventsOf, gaugeOf, type Kept } from '../counting.ts';
import { type Stamp, StoreError } from '../store.ts';
import {
  ATTEMPTS,
  type AttemptRow,
  among,
  DELIVERIES,
  type DeliveryRow,
  LEDGER_FIELDS,
  type LedgerRow,
  MESSAGES,
  type MessageRow,
  OPEN_DELIVERY,
  OPEN_MESSAGE,
  spanned,
} from './tables.ts';
import type { Tallies } from './tallies.ts';

/** A message that a verb works on: as it was found, and its changes since. */
export interface OpenMessage {
  readonly row: LedgerRow;
  readonly counts: Record<DeliveryState, number>;
  /** Who last changed anything but its deliveries' rows; null: nobody. */
  touched: Stamp | null;
  /** Not written by the ledger. */
  notBefore: number | null;
  attempts: number;
  deliveredAt: number | null;
  expiresAt: number;
  possibleDuplicate: boolean;
  lastError: LastError | null;
}

/** A delivery of an open message. Its row is changed in place. */
export interface OpenDelivery {
  readonly message: OpenMessage;
  readonly row: DeliveryRow;
}

/**
 * The messages and deliveries that a verb changes. Messages are locked before they are read, all that a transaction
 * needs at once and in the order of their ids; the holder of a message's lock has its deliveries to itself. Transitions
 * are entered in memory, where invalid ones are refused, and written by `write`.
 */
export class Ledger {
  readonly #db: Queries;
  readonly #tallies: Tallies;
  readonly #messages = new Map<string, OpenMessage>();
  readonly #deliveries = new Map<OpenMessage, Map<number, OpenDelivery>>();
  readonly #changed = new Set<DeliveryRow>();
  /** Deliveries whose only change is that their attempts have begun. */
  readonly #begun = new Set<DeliveryRow>();
  /** Rows that are in the past. */
  readonly #past = new Set<DeliveryRow>();
  readonly #attempts: AttemptRow[] = [];

  constructor(db: Queries, tallies: Tallies) {
    this.#db = db;
    this.#tallies = tallies;
  }

  /** Locks messages that are not final. For all others {@link message} returns null. */
  async open(ids: Iterable<string>): Promise<void> {
    const names = [...new Set(ids)];
    if (names.length > 0) this.#enter(await this.#db.rows<LedgerRow>(LOCK, [names]));
  }

  /** Locks the messages of deliveries, and reads the deliveries: one round trip. */
  async openUnits(
    units: readonly { readonly messageId: string; readonly indexes: readonly number[] }[],
  ): Promise<void> {
    if (units.length === 0) return;
    const names = [...new Set(units.map(({ messageId }) => messageId))];
    const [messages, deliveries] = await Promise.all([
      this.#db.rows<LedgerRow>(LOCK, [names]),
      this.#db.rows<DeliveryRow>(LOAD, placesOf(units)),
    ]);
    this.#enter(messages);
    this.#addOpen(deliveries);
  }

  /** Locks messages, including final ones, and reads all their deliveries: searches the whole past. */
  async openWhole(ids: Iterable<string>): Promise<void> {
    const names = [...new Set(ids)];
    if (names.length === 0) return;
    this.#enter(await this.#db.rows<LedgerRow>(LOCK_WHOLE, spanned(names)));
    this.#addOpen(await this.#db.rows<DeliveryRow>(LOAD_WHOLE, spanned(names)));
  }

  /** Locks and returns the messages that nobody else works on. Never waits, so it may come late. */
  async openFree(ids: readonly string[]): Promise<MessageRow[]> {
    const free = await this.#db.rows<MessageRow>(LOCK_FREE, [ids]);
    this.#enter(free.filter(({ id }) => !this.#messages.has(id)));
    return free;
  }

  /** An open message; null if there is none of this id. */
  message(id: string): OpenMessage | null {
    return this.#messages.get(id) ?? null;
  }

  /** Reads these deliveries of open messages, unless they are final. */
  async load(
    units: Iterable<{ readonly messageId: string; readonly indexes: readonly number[] }>,
  ): Promise<void> {
    const places = placesOf(units);
    if (places[0].length > 0) this.#addOpen(await this.#db.rows<DeliveryRow>(LOAD, places));
  }

  /** Adds deliveries that were read under the lock of their messages; returns them. */
  add(rows: readonly DeliveryRow[]): OpenDelivery[] {
    return rows.map((row) => {
      const message = this.message(row.message);
      if (message === null) throw new StoreError('store_bug', `message ${row.message} is not locked`);
      const siblings = this.#deliveries.get(message) ?? new Map<number, OpenDelivery>();
      this.#deliveries.set(message, siblings);
      const known = siblings.get(row.index) ?? { message, row };
      siblings.set(row.index, known);
      if (isFinal(known.row.state)) this.#past.add(known.row);
      return known;
    });
  }

  /** A delivery that was read; null if there is none. */
  delivery(messageId: string, index: number): OpenDelivery | null {
    const message = this.message(messageId);
    return (message && this.#deliveries.get(message)?.get(index)) ?? null;
  }

  /** Every delivery of a message that was read, in envelope order. */
  deliveriesOf(message: OpenMessage): OpenDelivery[] {
    return [...(this.#deliveries.get(message)?.values() ?? [])].sort((a, b) => a.row.index - b.row.index);
  }

  /** Records that a delivery's row was changed. */
  touch({ row }: OpenDelivery): void {
    this.#changed.add(row);
  }

  /** Records that the attempt of an open delivery has begun. */
  begin({ row }: OpenDelivery, now: number): void {
    row.begunAt = now;
    this.#begun.add(row);
  }

  /** Enters a delivery's change of state, and of its lane if that changes as well, and adjusts the depths. */
  move(
    delivery: OpenDelivery,
    to: DeliveryState,
    cause: TransitionCause,
    at: Stamp,
    toLane = delivery.row.lane,
  ): void {
    const { message, row } = delivery;
    if (!mayTransition(row.state, to, cause))
      throw new StoreError('store_bug', `${cause} may not take a delivery from ${row.state} to ${to}`);
    message.touched = at;
    message.counts[row.state]--;
    message.counts[to]++;
    this.#tallies.lane(row.lane, -waitingShare(row.state), -processingShare(row.state));
    this.#tallies.lane(toLane, waitingShare(to), processingShare(to));
    row.state = to;
    row.lane = toLane;
    this.touch(delivery);
  }

  /** Adds an attempt to the record. */
  append(attempt: AttemptRow): void {
    this.#attempts.push(attempt);
  }

  /** Writes the changed deliveries. Later reads see them. */
  writeDeliveries(): void {
    updateBegun(
      this.#db,
      [...this.#begun].filter((row) => !this.#changed.has(row)),
    );
    this.#begun.clear();
    const rows = Map.groupBy(this.#changed, (row) => this.#past.has(row));
    updateOpenDeliveries(this.#db, rows.get(false) ?? []);
    updateDeliveries(this.#db, rows.get(true) ?? []);
    this.#changed.clear();
  }

  /** Writes everything, and derives what follows for the messages. */
  async write(): Promise<void> {
    this.writeDeliveries();
    ATTEMPTS.send(this.#db, this.#attempts);
    const touched = [...this.#messages.values()].filter((message) => message.touched !== null);
    const mixed = await this.#notAllCaptured(touched);
    const closed = (messages: readonly OpenMessage[] = []) =>
      messages.flatMap((message) =>
        message.touched === null ? [] : [this.#close(message, mixed.has(message.row.id), message.touched)],
      );
    const rows = Map.groupBy(touched, ({ row }) => row.kept === null);
    updateOpenMessages(this.#db, closed(rows.get(true)));
    updateMessages(this.#db, closed(rows.get(false)));
  }

  /** Skips a message that came back between the lock and the read, since it is not locked. */
  #addOpen(rows: readonly DeliveryRow[]): void {
    this.add(rows.filter(({ message }) => this.#messages.has(message)));
  }

  #enter(rows: readonly LedgerRow[]): void {
    for (const row of rows) this.#messages.set(row.id, openMessage(row));
  }

  /** Of messages with every recipient delivered, those that were not all captured. */
  async #notAllCaptured(messages: readonly OpenMessage[]): Promise<Set<string>> {
    const mixed = new Set<string>();
    const unread: string[] = [];
    for (const message of messages) {
      if (deriveStatus(message.counts) !== 'delivered') continue;
      const { id } = message.row;
      const deliveries = this.deliveriesOf(message);
      // Most have one recipient, which is at hand.
      if (deliveries.some(({ row }) => row.outcome !== 'captured')) mixed.add(id);
      else if (deliveries.length < message.counts.delivered) unread.push(id);
    }
    if (unread.length === 0) return mixed;
    for (const { id } of await this.#db.rows<{ id: string }>(NOT_CAPTURED, spanned(unread))) mixed.add(id);
    return mixed;
  }

  /** The message as it will be written; adjusts the counts by its status and by what is kept of it. */
  #close(message: OpenMessage, isMixed: boolean, at: Stamp): LedgerRow {
    const { row, counts, touched: _, ...rest } = message;
    const status = deriveStatus(counts);
    const changed = status !== row.status;
    const ended = isFinal(status);
    const kept = ended ? keptWhenFinal(message, isMixed) : null;
    if (changed) this.#changeStatus(message, kept, at);
    this.#changeKept(row, kept);
    if (ended !== isFinal(row.status)) this.#tallies.queue(row.keyId, ended ? -1 : 1, row.length ?? 0);
    return {
      ...row,
      ...counts,
      ...rest,
      lastError: message.lastError === null ? null : JSON.stringify(message.lastError),
      status,
      kept,
      updatedAt: at.now,
      statusAt: changed ? at.now : row.statusAt,
      finalAt: ended ? (row.finalAt ?? at.now) : null,
    };
  }

  #changeStatus({ row, counts }: OpenMessage, kept: Kept | null, at: Stamp): void {
    const status = deriveStatus(counts);
    const left = gaugeOf(row.status, row.length !== null);
    const entered = gaugeOf(status, row.length !== null);
    if (left !== null) this.#tallies.gauge(left, -1);
    if (entered !== null) this.#tallies.gauge(entered, 1);
    for (const event of eventsOf(status, kept)) this.#tallies.count(event, at);
  }

  #changeKept({ kept: before, length }: LedgerRow, kept: Kept | null): void {
    if (length === null || kept === before) return;
    if (before === 'sent' || before === 'captured') this.#tallies.gauge(BYTES_GAUGE[before], -length);
    if (kept === 'sent' || kept === 'captured') this.#tallies.gauge(BYTES_GAUGE[kept], length);
  }
}

/** Column by column. */
function placesOf(
  units: Iterable<{ readonly messageId: string; readonly indexes: readonly number[] }>,
): [ids: string[], indexes: number[]] {
  const ids: string[] = [];
  const indexes: number[] = [];
  for (const unit of units)
    for (const index of unit.indexes) {
      ids.push(unit.messageId);
      indexes.push(index);
    }
  return [ids, indexes];
}

function openMessage(row: LedgerRow): OpenMessage {
  const { queued, processing, retrying, delivered, failed } = row;
  return {
    row,
    counts: { queued, processing, retrying, delivered, failed },
    touched: null,
    notBefore: row.notBefore,
    attempts: row.attempts,
    deliveredAt: row.deliveredAt,
    expiresAt: row.expiresAt,
    possibleDuplicate: row.possibleDuplicate,
    lastError: row.lastError === null ? null : fromJson<LastError>(row.lastError),
  };
}

/**
 * A message counts as captured if every recipient was; a test key's once anybody got it, whatever outcome was played
 * afterwards.
 */
function keptWhenFinal({ row, counts, deliveredAt }: OpenMessage, isMixed: boolean): Kept {
  if (row.length === null) return 'gone';
  if (row.test) return deliveredAt === null ? 'sent' : 'captured';
  return counts.failed > 0 || isMixed ? 'sent' : 'captured';
}

function waitingShare(state: DeliveryState): number {
  return state === 'queued' || state === 'retrying' ? 1 : 0;
}

function processingShare(state: DeliveryState): number {
  return state === 'processing' ? 1 : 0;
}

const COLUMNS = MESSAGES.columnsOf(LEDGER_FIELDS);
const OPEN = `FROM messages WHERE id = ANY($1::text[]) AND ${OPEN_MESSAGE} ORDER BY id FOR UPDATE`;
const LOCK = `SELECT ${COLUMNS} ${OPEN}`;
const LOCK_WHOLE = `SELECT ${COLUMNS} FROM messages WHERE ${among('id')} ORDER BY id FOR UPDATE`;
const LOCK_FREE = `SELECT ${MESSAGES.columns} ${OPEN} SKIP LOCKED`;
const LOAD = `SELECT ${DELIVERIES.columns} FROM deliveries
  JOIN unnest($1::text[], $2::integer[]) AS wanted (message, index) USING (message, index)
  WHERE ${OPEN_DELIVERY}`;
const LOAD_WHOLE = `SELECT ${DELIVERIES.columns} FROM deliveries WHERE ${among('message')}`;
const NOT_CAPTURED = `SELECT DISTINCT message AS id FROM deliveries
  WHERE ${among('message')} AND outcome <> 'captured'`;

// biome-ignore format: a table
const MESSAGE_CHANGES = [
  'status', 'queued', 'processing', 'retrying', 'delivered', 'failed', 'attempts', 'kept',
  'possibleDuplicate', 'lastError', 'updatedAt', 'statusAt', 'deliveredAt', 'finalAt', 'expiresAt',
] as const;
const updateMessages = MESSAGES.updater(['id'], MESSAGE_CHANGES);
const updateOpenMessages = MESSAGES.updater(['id'], MESSAGE_CHANGES, OPEN_MESSAGE);

// biome-ignore format: a table
const DELIVERY_CHANGES = [
  'state', 'lane', 'relay', 'dueAt', 'expiresAt', 'fence', 'begunAt', 'cancelRequested',
  'attempts', 'attemptsBefore', 'delayReported', 'outcome', 'routeRule', 'routeGroup',
  'providerMessageId', 'lastCode', 'lastEnhanced', 'lastReply',
] as const;
const updateDeliveries = DELIVERIES.updater(['message', 'index'], DELIVERY_CHANGES);
const updateOpenDeliveries = DELIVERIES.updater(['message', 'index'], DELIVERY_CHANGES, OPEN_DELIVERY);
const updateBegun = DELIVERIES.updater(['message', 'index'], ['begunAt'], OPEN_DELIVERY);
