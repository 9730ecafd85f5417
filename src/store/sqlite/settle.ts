import { type Attempt, type AttemptResult, type Evidence, NO_EVIDENCE } from '../../domain/attempt.ts';
import { endCancelled, type Transition } from '../../domain/settle.ts';
import { classOf, fromJson } from '../columns.ts';
import type { BeginAnswer, BeginRequest, ReleaseRequest, Suppressing } from '../leased.ts';
import { NOBODY, stopsOf } from '../stops.ts';
import type { SettleAnswer, Settlement, Stamp } from '../store.ts';
import { type AttemptPage, type AttemptRange, MAX_EVIDENCE_BYTES } from '../views.ts';
import type { Books } from './books.ts';
import type { InSnapshot } from './connection.ts';
import type { Deliveries } from './deliveries.ts';
import type { Driver } from './driver.ts';
import { Inserter } from './insert.ts';
import type { OpenMessage } from './ledger.ts';
import type { MailTelling } from './telling.ts';

const STALE: SettleAnswer = { kind: 'stale' };
/** The usual case, which fills most of a batch. */
const SETTLED: SettleAnswer = { kind: 'settled', cancelled: [] };

/** Builds the verb `begin`: refused unless the node still holds the lane and every delivery is still the unit's. */
export function beginVerb(books: Books, deliveries: Deliveries) {
  return (units: readonly BeginRequest[], at: Stamp): BeginAnswer[] => {
    const looks = !books.stopping.isEmpty;
    const answers = units.map((unit) => beginUnit(unit, looks, at));
    // Beginning changes no message.
    books.ledger.discard();
    return answers;
  };

  function beginUnit(unit: BeginRequest, looks: boolean, at: Stamp): BeginAnswer {
    if (!books.leases.holds(unit, at)) return 'refused';
    const stopped = looks ? books.stopping.ofUnit(unit.messageId, unit.indexes, at.now) : NOBODY;
    if (stopped.size > 0) return deliveries.leased(unit) === null ? 'refused' : stopsOf(stopped);
    if (unit.quota === null) return deliveries.begin(unit, at) ? 'begun' : 'refused';
    const found = deliveries.leased(unit);
    if (found === null || found.some(({ cancelRequested }) => cancelRequested)) return 'refused';
    // An attempt already begun under this lease was charged then: the answer was lost, and this is the repeat.
    const isNew = found.some(({ begunAt }) => begunAt === null);
    if (isNew && !books.quotas.take(unit.quota)) return 'over_quota';
    deliveries.begin(unit, at);
    return 'begun';
  }
}

/**
 * Builds the verb `settle`. The fence of the deliveries counts: while they carry the unit's, nobody else can have taken
 * them, even if the lane's lease has ended, and the result must be recorded.
 */
export function settleVerb(books: Books, deliveries: Deliveries, attempts: AttemptLog, telling: MailTelling) {
  const settling = new Settling(books, deliveries, attempts, new Inserter(books));
  return (batch: readonly Settlement[], at: Stamp): SettleAnswer[] => {
    const settled = batch.map((settlement) => {
      const answer = settling.settle(settlement, at);
      if (answer.kind === 'settled') telling.own(settlement.unit.messageId, settlement.own, at);
      return answer;
    });
    books.ledger.flush(at);
    return settled;
  };
}

/** Writes what attempts did. Leaves the messages open, to be flushed. */
export class Settling {
  readonly #books: Books;
  readonly #deliveries: Deliveries;
  readonly #attempts: AttemptLog;
  readonly #inserter: Inserter;

  constructor(books: Books, deliveries: Deliveries, attempts: AttemptLog, inserter: Inserter) {
    this.#books = books;
    this.#deliveries = deliveries;
    this.#attempts = attempts;
    this.#inserter = inserter;
  }

  /** Writes one settlement, unless it is stale. */
  settle(settlement: Settlement, at: Stamp): SettleAnswer {
    const { unit, attempt, transitions, report, delayReported, refund } = settlement;
    const deliveries = this.#deliveries;
    const found = deliveries.leased(unit);
    const message = found?.[0]?.message;
    if (found === null || message === undefined) return STALE;
    if (found.some(({ begunAt }) => begunAt !== attempt.startedAt)) return STALE;
    let deferred = false;
    const cancelled: number[] = [];
    for (const [place, delivery] of found.entries()) {
      const planned = transitionAt(transitions, place);
      const transition = delivery.cancelRequested ? endCancelled(planned) : planned;
      deferred ||= transition.state === 'retrying';
      if (transition !== planned) cancelled.push(delivery.index);
      deliveries.settle(delivery, transition, classOf(attempt, delivery.index), 'settle', at);
      if (delayReported.includes(delivery.index)) deliveries.markDelayReported(delivery);
    }
    this.#attempts.append(message, attempt, deferred, at);
    this.#inserter.insertReport(report, at);
    this.#books.quotas.giveBack(refund);
    return cancelled.length === 0 ? SETTLED : { kind: 'settled', cancelled };
  }
}

/** Builds the verb `suppress`. */
export function suppressVerb(books: Books, deliveries: Deliveries) {
  const inserter = new Inserter(books);
  return (batch: readonly Suppressing[], at: Stamp): SettleAnswer[] => {
    const answers = batch.map((one) => suppressUnit(one, at));
    books.ledger.flush(at);
    return answers;
  };

  function suppressUnit({ unit, report }: Suppressing, at: Stamp): SettleAnswer {
    const found = deliveries.leased(unit);
    if (found === null || found.some(({ begunAt }) => begunAt !== null)) return STALE;
    const stopped = books.stopping.ofUnit(unit.messageId, unit.indexes, at.now);
    if (!unit.indexes.every((index) => stopped.has(index))) return STALE;
    for (const delivery of found) {
      const entry = stopped.get(delivery.index);
      if (entry !== undefined) deliveries.suppress(delivery, entry, at);
    }
    inserter.insertReport(report, at);
    return SETTLED;
  }
}

/** Builds the verb `release`: deliveries not leased under the unit's fence are left alone. */
export function releaseVerb(books: Books, deliveries: Deliveries) {
  return (units: readonly ReleaseRequest[], at: Stamp): SettleAnswer[] => {
    const released = units.map((unit) => releaseUnit(unit, at));
    books.ledger.flush(at);
    return released;
  };

  function releaseUnit(unit: ReleaseRequest, at: Stamp): SettleAnswer {
    const found = deliveries.leased(unit);
    if (found === null) return STALE;
    // What has not begun was not charged.
    if (found.some(({ begunAt }) => begunAt !== null)) books.quotas.giveBack(unit.refund);
    for (const delivery of found) deliveries.giveBack(delivery, 'release', at);
    const cancelled = found.flatMap(({ index, cancelRequested }) => (cancelRequested ? [index] : []));
    return cancelled.length === 0 ? SETTLED : { kind: 'settled', cancelled };
  }
}

function transitionAt(transitions: readonly Transition[], place: number): Transition {
  const transition = transitions[place];
  if (transition === undefined) throw new Error(`no transition for place ${place} of the unit`);
  return transition;
}

/** A row of `attempts` without its key. */
type AttemptRow = [startedAt: number, relay: string, evidence: string, results: string];

/** The append-only record of attempts. */
export class AttemptLog {
  readonly #books: Books;
  readonly #insert;

  constructor(books: Books) {
    this.#books = books;
    this.#insert = books.db.prepare<[seq: number, number: number, ...AttemptRow]>(
      'INSERT INTO attempts (message, number, started_at, relay, evidence, results) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  /** Adds an attempt to an open message; `deferred` if it left a recipient waiting. */
  append(
    message: Pick<OpenMessage, 'seq' | 'attempts'>,
    attempt: Attempt,
    deferred: boolean,
    at: Stamp,
  ): void {
    message.attempts++;
    this.#insert.run(
      message.seq,
      message.attempts,
      attempt.startedAt,
      attempt.relay,
      JSON.stringify(attempt.evidence),
      JSON.stringify(attempt.results),
    );
    if (deferred) this.#books.tallies.count('retried', at);
  }
}

/** Builds the view of attempts. It reads them one by one, and no more than a page holds. */
export function attemptsView(db: Driver, inSnapshot: InSnapshot) {
  const seqOf = db.prepare<[id: string], [seq: number]>('SELECT seq FROM messages WHERE id = ?');
  const byNumber = db.prepare<[seq: number, number: number], AttemptRow>(
    'SELECT started_at, relay, evidence, results FROM attempts WHERE message = ? AND number = ?',
  );
  return (id: string, { after, limit }: AttemptRange): AttemptPage =>
    inSnapshot(() => {
      const attempts: Attempt[] = [];
      const seq = seqOf.get(id)?.[0];
      if (seq === undefined) return { attempts, next: null };
      let bytes = 0;
      for (let number = after + 1; ; number++) {
        const row = byNumber.get(seq, number);
        if (row === undefined) return { attempts, next: null };
        if (attempts.length === limit || bytes >= MAX_EVIDENCE_BYTES) return { attempts, next: number - 1 };
        const [, , evidence, results] = row;
        bytes += evidence.length + results.length;
        attempts.push(attemptOf(row));
      }
    });
}

/** Reads a row. Evidence that was not recorded yet when it was written gets its empty value. */
function attemptOf([startedAt, relay, evidence, results]: AttemptRow): Attempt {
  const { timings, ...found } = fromJson<Evidence>(evidence);
  return {
    startedAt,
    relay,
    evidence: { ...NO_EVIDENCE, ...found, timings: { ...NO_EVIDENCE.timings, ...timings } },
    results: fromJson<AttemptResult[]>(results).map(({ index, outcome }) => ({
      index,
      outcome: outcome.kind === 'delivered' ? { ...NOT_PASSED, ...outcome } : outcome,
    })),
  };
}

const NOT_PASSED = { dsnPassed: false } as const;
