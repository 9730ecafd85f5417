import { Pseudonyms } from '../../lib/pseudonym.ts';
import type { Database } from '../../postgres/database.ts';
import { storeErrorOf } from '../../postgres/errors.ts';
import { StoreError } from '../store.ts';
import { SegmentLost, writeContents } from './contents.ts';
import { type BooksTerms, booksOver, type Call, lockFor, Work } from './work.ts';

/** Calls, and deliveries in them, that may wait; further ones are refused with `store_busy`. */
export const MAX_WAITING = 5_000;
const MAX_WAITING_WEIGHT = 100_000;
/** Transactions committed but not flushed before the next one must wait: each keeps its connection. */
export const MAX_UNFLUSHED = 3;
/** Most deliveries in one transaction; a larger call goes alone. */
export const MAX_WEIGHT = 1_000;

/** A waiting call. Its decision tells the caller, once it is committed. */
interface Waiting extends Call<() => void> {
  reject(error: unknown): void;
}

/**
 * Lets concurrent calls share transactions: calls that arrive while one runs wait, and go together in the next, in the
 * order of arrival. No timer: if nothing runs, nothing waits. Two transactions at once would only wait for each other,
 * since nearly all change the same figures, and each would carry half as much. The next one begins when the last is
 * committed, while that is being flushed; callers are answered after the flush.
 */
export class Gatherer {
  readonly #database: Pick<Database, 'transact'>;
  readonly #terms: BooksTerms;
  readonly #idle: (() => void)[] = [];
  #waiting: Waiting[] = [];
  #weight = 0;
  #isRunning = false;
  #unflushed = 0;
  #closed = false;

  constructor(
    database: Pick<Database, 'transact'>,
    terms: BooksTerms = { eventsKept: 'all', pseudonyms: new Pseudonyms() },
  ) {
    this.#database = database;
    this.#terms = terms;
  }

  /** Runs a call, together with other waiting ones; resolves when it is committed. */
  ask<Answer>(call: Call<Answer>): Promise<Answer> {
    const refusal = this.#refusal();
    if (refusal !== null) return Promise.reject(refusal);
    return new Promise<Answer>((resolve, reject) => {
      const decide = (work: Work) => {
        const answer = call.decide(work);
        return () => resolve(answer);
      };
      this.#waiting.push({ ...call, decide, reject });
      this.#weight += call.weight;
      this.#start();
    });
  }

  /** Refuses later calls with `store_closed`. */
  close(): void {
    this.#closed = true;
  }

  /** Resolves when nothing waits or runs. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#tellIdle();
    });
  }

  #refusal(): StoreError | null {
    if (this.#closed) return new StoreError('store_closed', 'the store is closed');
    if (this.#waiting.length < MAX_WAITING && this.#weight < MAX_WAITING_WEIGHT) return null;
    return new StoreError('store_busy', 'too many calls wait for the database');
  }

  #start(): void {
    if (this.#isRunning || this.#waiting.length === 0 || this.#unflushed >= MAX_UNFLUSHED) return;
    this.#isRunning = true;
    let isCommitted = false;
    const committed = () => {
      isCommitted = true;
      this.#isRunning = false;
      this.#unflushed++;
      this.#start();
    };
    const end = () => {
      if (isCommitted) this.#unflushed--;
      else this.#isRunning = false;
      this.#start();
      this.#tellIdle();
    };
    this.#run(this.#next(), committed).then(end, end);
  }

  #tellIdle(): void {
    if (this.#isRunning || this.#unflushed > 0 || this.#waiting.length > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Takes from the front of the queue as much as fits into a transaction. */
  #next(): Waiting[] {
    let weight = 0;
    const first = this.#waiting.findIndex((call, place) => {
      weight += call.weight;
      return place > 0 && weight > MAX_WEIGHT;
    });
    const taken = this.#waiting.splice(0, first < 0 ? this.#waiting.length : first);
    for (const call of taken) this.#weight -= call.weight;
    return taken;
  }

  /** Never rejects: each call gets its answer or its error. */
  async #run(calls: readonly Waiting[], committed?: () => void): Promise<void> {
    const [first] = calls;
    if (first === undefined) return;
    try {
      const options = committed === undefined ? {} : { committed };
      const told = await this.#database.transact(
        (db) => runTogether(new Work(db, first.at, booksOver(db, this.#terms)), calls),
        options,
      );
      for (const tell of told) tell();
    } catch (thrown) {
      const error = storeErrorOf(thrown);
      // Running each call alone shows which one is at fault.
      const isSomebodys = error.code === 'store_bug' || error instanceof SegmentLost;
      if (isSomebodys && calls.length > 1) for (const call of calls) await this.#run([call]);
      else for (const call of calls) call.reject(error);
    }
  }
}

async function runTogether(work: Work, calls: readonly Waiting[]): Promise<(() => void)[]> {
  const contents = calls.flatMap((call) => call.contents ?? []);
  await Promise.all([writeContents(work.db, contents), lockFor(work, calls)]);
  const told = calls.map((call) => call.decide(work.as(call.at)));
  await work.write();
  return told;
}
