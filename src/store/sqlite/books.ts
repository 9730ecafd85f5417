import type { EventsKept } from '../../domain/event.ts';
import { Pseudonyms } from '../../lib/pseudonym.ts';
import { Depths } from './depths.ts';
import type { Driver } from './driver.ts';
import { EventLog } from './events.ts';
import { Leases } from './leases.ts';
import { Ledger } from './ledger.ts';
import { Quotas } from './quotas.ts';
import { Stopping } from './stopping.ts';
import { Tallies } from './tallies.ts';

/** The connection, and what a transaction keeps in memory until it ends. Shared by every verb. */
export class Books {
  readonly db: Driver;
  readonly tallies: Tallies;
  readonly leases: Leases;
  readonly depths: Depths;
  readonly quotas: Quotas;
  readonly ledger: Ledger;
  readonly events: EventLog;
  readonly stopping: Stopping;
  readonly pseudonyms = new Pseudonyms();

  constructor(db: Driver, eventsKept: EventsKept) {
    this.db = db;
    this.tallies = new Tallies(db);
    this.leases = new Leases(db);
    this.depths = new Depths(db, this.leases);
    this.quotas = new Quotas(db);
    this.ledger = new Ledger(db, this.tallies, this.depths);
    this.events = new EventLog(db, eventsKept);
    this.stopping = new Stopping(db, this.pseudonyms);
  }

  /** Writes what is still in memory; the last step before a commit, and before a read that may depend on it. */
  closeOff(): void {
    this.tallies.flush();
    this.depths.flush();
    this.quotas.flush();
    this.leases.forget();
  }

  /** Drops everything in memory, after a rollback. */
  discard(): void {
    this.tallies.discard();
    this.depths.discard();
    this.quotas.discard();
    this.leases.forget();
    this.ledger.discard();
  }
}
