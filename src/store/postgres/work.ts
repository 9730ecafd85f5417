import type { Queries } from '../../postgres/database.ts';
import type { Stamp } from '../store.ts';
import { Lanes } from './lanes.ts';
import { Ledger } from './ledger.ts';
import { Quotas } from './quotas.ts';
import { Tallies } from './tallies.ts';

/**
 * What a verb works with while its transaction runs. Every verb locks in this order, so that none waits for another in
 * a circle: leases of lanes, idempotency keys, queues of keys and gauges where they limit, messages, quotas of
 * relays, and when all is written the tallies.
 */
export class Work {
  readonly db: Queries;
  readonly at: Stamp;
  readonly lanes: Lanes;
  readonly ledger: Ledger;
  readonly quotas: Quotas;
  readonly tallies: Tallies;

  constructor(db: Queries, at: Stamp) {
    this.db = db;
    this.at = at;
    this.lanes = new Lanes(db);
    this.quotas = new Quotas(db);
    this.tallies = new Tallies();
    this.ledger = new Ledger(db, this.tallies);
  }

  /** Writes what is still in memory; the last thing before the commit. */
  async write(): Promise<void> {
    await this.quotas.write();
    await this.ledger.write(this.at);
    await this.tallies.write(this.db);
  }
}
