import type { Queries } from '../../postgres/database.ts';
import type { Stamp } from '../store.ts';
import { Desk } from './desk.ts';
import { Lanes } from './lanes.ts';
import { Ledger } from './ledger.ts';
import { Quotas } from './quotas.ts';
import { Repeats } from './repeats.ts';
import { Room } from './room.ts';
import { Tallies } from './tallies.ts';

/**
 * What a verb works with while its transaction runs. Every verb locks in this order, so that none waits for another in
 * a circle: leases of lanes, idempotency keys, messages, quotas of relays, the queues of everyone and of keys where
 * they are limited, and when all is written the tallies.
 */
interface Books {
  readonly lanes: Lanes;
  readonly repeats: Repeats;
  readonly room: Room;
  readonly ledger: Ledger;
  readonly quotas: Quotas;
  readonly desk: Desk;
  readonly tallies: Tallies;
}

/** The books of a transaction, in the hands of a call that has a stamp. */
export class Work implements Books {
  readonly db: Queries;
  readonly at: Stamp;
  readonly lanes: Lanes;
  readonly repeats: Repeats;
  readonly room: Room;
  readonly ledger: Ledger;
  readonly quotas: Quotas;
  readonly desk: Desk;
  readonly tallies: Tallies;

  constructor(db: Queries, at: Stamp, books: Books = booksOver(db)) {
    this.db = db;
    this.at = at;
    this.lanes = books.lanes;
    this.repeats = books.repeats;
    this.room = books.room;
    this.ledger = books.ledger;
    this.quotas = books.quotas;
    this.desk = books.desk;
    this.tallies = books.tallies;
  }

  /** The same books, for another call in the same transaction. */
  as(at: Stamp): Work {
    return new Work(this.db, at, this);
  }

  /** Writes what is still in memory; the last thing before the commit. */
  async write(): Promise<void> {
    this.repeats.write();
    this.desk.write();
    this.quotas.write();
    await this.ledger.write();
    this.tallies.write(this.db);
  }
}

function booksOver(db: Queries): Books {
  const lanes = new Lanes(db);
  const tallies = new Tallies();
  return {
    lanes,
    tallies,
    repeats: new Repeats(db),
    room: new Room(db),
    ledger: new Ledger(db, tallies),
    quotas: new Quotas(db),
    desk: new Desk(db, lanes, tallies),
  };
}
