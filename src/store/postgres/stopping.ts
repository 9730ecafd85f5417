import { suppressedOf } from '../../domain/suppressed-address.ts';
import { type Asking, domainOfFrom, type Suppression } from '../../domain/suppression.ts';
import type { Pseudonyms } from '../../lib/pseudonym.ts';
import type { Queries } from '../../postgres/database.ts';
import { type AcceptRecord, askingOf } from '../accepting.ts';
import { entriesUnder, FoundEntries, keysOf } from '../plain/suppressions.ts';
import { NOBODY, type Stops } from '../stops.ts';
import type { OpenMessage } from './ledger.ts';
import { done } from './plain.ts';
import type { DeliveryRow } from './tables.ts';

/** A recipient and its place in the envelope. */
type Placed = Pick<DeliveryRow, 'index' | 'address'>;

/** What a transaction has found in the suppression list, and what it writes because of that. */
export class List {
  readonly #db: Queries;
  readonly #pseudonyms: Pseudonyms;
  readonly #found = new FoundEntries();
  readonly #stopped: { readonly message: string; readonly index: number; readonly entry: string }[] = [];
  /** The message delivered to each address; '': several. */
  readonly #delivered = new Map<string, string>();

  constructor(db: Queries, pseudonyms: Pseudonyms) {
    this.#db = db;
    this.#pseudonyms = pseudonyms;
  }

  /** Looks for entries that may stop recipients. Locks nothing: what is added later counts for later messages. */
  async look(recipients: readonly string[]): Promise<void> {
    if (recipients.length > 0)
      this.#found.add(await done(entriesUnder(keysOf(recipients), this.#pseudonyms), this.#db));
  }

  /** The entries that stop recipients of a message that is being accepted, by their places in the envelope. */
  ofRecord(record: AcceptRecord, now: number): Stops {
    const asking = askingOf(record);
    return this.#stops(
      record.deliveries.map(({ recipient }, index) => ({ index, address: recipient.address })),
      asking,
      now,
    );
  }

  /** The same of deliveries of an open message. */
  ofDeliveries({ row }: OpenMessage, deliveries: readonly Placed[], now: number): Stops {
    const { keyId, test, headerFrom, stream, ignoresSuppression: ignores } = row;
    return this.#stops(
      deliveries,
      { keyId, test, fromDomain: domainOfFrom(headerFrom), stream, ignores },
      now,
    );
  }

  /** An entry has stopped a recipient. */
  stopped(message: string, index: number, entry: string): void {
    this.#stopped.push({ message, index, entry });
  }

  /** A delivery to an address ends its row of soft bounces, unless the message bounces later. */
  delivered(recipient: string, id: string): void {
    const { address } = suppressedOf(recipient);
    this.#delivered.set(address, (this.#delivered.get(address) ?? id) === id ? id : '');
  }

  /** Writes what was entered. */
  write(): void {
    if (this.#stopped.length > 0)
      this.#db.send(STOPPED, [
        this.#stopped.map(({ message }) => message),
        this.#stopped.map(({ index }) => index),
        this.#stopped.map(({ entry }) => entry),
      ]);
    if (this.#delivered.size > 0)
      this.#db.send(DELIVERED, [[...this.#delivered.keys()], [...this.#delivered.values()]]);
  }

  #stops(recipients: readonly Placed[], asking: Asking, now: number): Stops {
    let stopped: Map<number, Suppression> | null = null;
    for (const { index, address } of recipients) {
      const entry = this.#found.stopping(address, asking, now);
      if (entry !== null) stopped = (stopped ?? new Map()).set(index, entry);
    }
    return stopped ?? NOBODY;
  }
}

const STOPPED = `INSERT INTO aftermath (message, idx, suppression)
  SELECT * FROM unnest($1::text[], $2::integer[], $3::text[])
  ON CONFLICT (message, idx) DO UPDATE SET suppression = excluded.suppression`;
// Locked in one order, so that two transactions never wait for each other.
const DELIVERED = `WITH locked AS MATERIALIZED (
    SELECT address FROM soft_bounces WHERE address = ANY($1::text[]) ORDER BY address FOR UPDATE)
  UPDATE soft_bounces
  SET delivered_by = CASE WHEN coalesce(delivered_by, delivered.id) = delivered.id THEN delivered.id ELSE '' END
  FROM locked JOIN unnest($1::text[], $2::text[]) AS delivered (address, id) USING (address)
  WHERE soft_bounces.address = locked.address`;
