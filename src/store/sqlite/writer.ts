import type { EventsKept } from '../../domain/event.ts';
import { StoreError } from '../store.ts';
import { Books } from './books.ts';
import { assertDurable, rebuild } from './connection.ts';
import type { Driver } from './driver.ts';
import { storeErrorOf } from './errors.ts';
import { createVerbs, type Verbs } from './verbs.ts';

/** A call of a verb that waits to be committed. */
export interface Request {
  readonly verb: keyof Verbs;
  readonly args: readonly unknown[];
}

/** The result of a request. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: StoreError };

/**
 * The only writer of the database. It commits all waiting requests in one transaction; no request is answered before
 * its commit is on stable storage.
 */
export class Writer {
  readonly #db: Driver;
  readonly #books: Books;
  readonly #verbs: Readonly<Record<keyof Verbs, (...args: never[]) => unknown>>;
  #durable = false;
  #failure: StoreError | null = null;

  constructor(db: Driver, eventsKept: EventsKept = 'all') {
    this.#db = db;
    this.#books = new Books(db, eventsKept);
    this.#verbs = createVerbs(this.#books);
  }

  /**
   * Runs the requests in order and commits them together. If one of them fails, or finds no room, they are committed in
   * halves, and so on, so that it fails alone: whoever looks up a key must not be refused for the mail of others. Never
   * throws: every request has its answer.
   */
  commit(requests: readonly Request[]): Answer[] {
    if (this.#failure !== null) return rejectAll(requests, this.#failure);
    const place = requests.findIndex(({ verb }) => verb === 'rebuild');
    if (place >= 0)
      return [
        ...(place > 0 ? this.commit(requests.slice(0, place)) : []),
        this.#rebuild(),
        ...(place + 1 < requests.length ? this.commit(requests.slice(place + 1)) : []),
      ];
    try {
      return this.#transact(requests).map((value) => ({ ok: true, value }));
    } catch (thrown) {
      const error = this.#rollBack(thrown);
      if (isOfAll(error) || requests.length === 1) return rejectAll(requests, error);
      const half = requests.length >> 1;
      return [requests.slice(0, half), requests.slice(half)].flatMap((some) => this.commit(some));
    }
  }

  /** Closes the connection; later requests are rejected. */
  close(): void {
    this.#failure ??= new StoreError('store_closed', 'the store is closed');
    this.#db.close();
  }

  /** Outside of any transaction, as SQLite wants it. */
  #rebuild(): Answer {
    try {
      return { ok: true, value: rebuild(this.#db) };
    } catch (thrown) {
      return { ok: false, error: this.#rollBack(thrown) };
    }
  }

  #transact(requests: readonly Request[]): unknown[] {
    this.#db.exec('BEGIN IMMEDIATE');
    const values = requests.map((request) => this.#run(request));
    this.#books.closeOff();
    this.#db.exec('COMMIT');
    if (!this.#durable) {
      assertDurable(this.#db);
      this.#durable = true;
    }
    return values;
  }

  #run({ verb, args }: Request): unknown {
    const run = this.#verbs[verb] as (...args: readonly unknown[]) => unknown;
    return run(...args);
  }

  #rollBack(thrown: unknown): StoreError {
    const error = storeErrorOf(thrown);
    this.#books.discard();
    if (error.code === 'store_failed') this.#failure = error;
    try {
      // SQLite rolls back by itself after some errors.
      if (this.#db.inTransaction()) this.#db.exec('ROLLBACK');
    } catch (again) {
      this.#failure ??= storeErrorOf(again);
    }
    return error;
  }
}

/** Whether it would meet every request: the disk failed, or somebody else holds the lock. */
function isOfAll({ code }: StoreError): boolean {
  return code === 'store_failed' || code === 'store_unavailable';
}

function rejectAll(requests: readonly Request[], error: StoreError): Answer[] {
  return requests.map(() => ({ ok: false, error }));
}
