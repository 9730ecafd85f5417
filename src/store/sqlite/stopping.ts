import { suppressedOf } from '../../domain/suppressed-address.ts';
import type { Asking, Suppression } from '../../domain/suppression.ts';
import { domainOfFrom } from '../../domain/suppression.ts';
import type { Pseudonyms } from '../../lib/pseudonym.ts';
import { type AcceptRecord, askingOf } from '../accepting.ts';
import { entriesUnder, FoundEntries, keysOf } from '../plain/suppressions.ts';
import { NOBODY, type Stops } from '../stops.ts';
import type { Driver } from './driver.ts';
import { runnerOver } from './plain.ts';

/** Looks at the suppression list for the verbs that accept mail and begin attempts, in their transaction. */
export class Stopping {
  readonly #run;
  readonly #pseudonyms: Pseudonyms;
  readonly #sql;

  constructor(db: Driver, pseudonyms: Pseudonyms) {
    this.#run = runnerOver(db);
    this.#pseudonyms = pseudonyms;
    this.#sql = {
      any: db.prepare<[], [1]>('SELECT 1 FROM suppressions LIMIT 1'),
      asking: db.prepare<
        [id: string],
        [
          seq: number,
          keyId: string | null,
          test: number,
          from: string,
          stream: string | null,
          ignores: number,
        ]
      >('SELECT seq, key_id, test, header_from, stream, ignores_suppression FROM messages WHERE id = ?'),
      address: db.prepare<[seq: number, index: number], [address: string]>(
        'SELECT address FROM deliveries WHERE message = ? AND idx = ?',
      ),
      anySoft: db.prepare<[], [1]>('SELECT 1 FROM soft_bounces LIMIT 1'),
      delivered: db.prepare<[id: string, set: string, address: string]>(
        `UPDATE soft_bounces SET delivered_by = iif(delivered_by IS NULL OR delivered_by = ?, ?, '') WHERE address = ?`,
      ),
    };
  }

  /** Whether the list is empty, so that a batch need not look for each of its recipients. */
  get isEmpty(): boolean {
    return this.#sql.any.get() === undefined;
  }

  /** The entries that stop recipients of a message that is being accepted, by their places in the envelope. */
  ofRecord(record: AcceptRecord, now: number): Stops {
    if (this.isEmpty) return NOBODY;
    const recipients = record.deliveries.map(({ recipient }, index) => [index, recipient.address] as const);
    return this.#stopped(recipients, askingOf(record), now);
  }

  /** The same of recipients of a message that is being claimed, or whose attempt is about to begin. */
  ofUnit(messageId: string, indexes: readonly number[], now: number): Stops {
    const row = this.#sql.asking.get(messageId);
    if (row === undefined) return NOBODY;
    const [seq, keyId, test, from, stream, ignores] = row;
    const recipients = indexes.flatMap((index) => {
      const [address] = this.#sql.address.get(seq, index) ?? [];
      return address === undefined ? [] : [[index, address] as const];
    });
    const fromDomain = domainOfFrom(from);
    const asking = { keyId, test: test === 1, fromDomain, stream, ignores: ignores === 1 };
    return this.#stopped(recipients, asking, now);
  }

  /** A delivery to an address ends its row of soft bounces, unless the message bounces later. */
  delivered(recipient: string, id: string): void {
    if (this.#sql.anySoft.get() !== undefined)
      this.#sql.delivered.run(id, id, suppressedOf(recipient).address);
  }

  #stopped(
    recipients: readonly (readonly [index: number, address: string])[],
    asking: Asking,
    now: number,
  ): Stops {
    const found = new FoundEntries();
    found.add(this.#run(entriesUnder(keysOf(recipients.map(([, address]) => address)), this.#pseudonyms)));
    const stopped = new Map<number, Suppression>();
    for (const [index, address] of recipients) {
      const entry = found.stopping(address, asking, now);
      if (entry !== null) stopped.set(index, entry);
    }
    return stopped;
  }
}
