import { endCancelled, type Transition } from '../../domain/settle.ts';
import { classOf } from '../last-error.ts';
import type { BeginAnswer, BeginRequest, ReleaseRequest, SettleAnswer, Settlement, Stamp } from '../store.ts';
import type { AttemptLog } from './attempts.ts';
import type { Books } from './books.ts';
import type { Deliveries } from './deliveries.ts';
import { Inserter } from './insert.ts';

const STALE: SettleAnswer = { kind: 'stale' };
/** The usual case, of which a batch holds many. */
const SETTLED: SettleAnswer = { kind: 'settled', cancelled: [] };

/** Builds the verb `begin`: refused unless the node still holds the lane and every delivery is still the unit's. */
export function beginVerb(books: Books, deliveries: Deliveries) {
  return (units: readonly BeginRequest[], at: Stamp): BeginAnswer[] => {
    const answers = units.map((unit) => beginUnit(unit, at));
    // Beginning changes no message.
    books.ledger.discard();
    return answers;
  };

  function beginUnit(unit: BeginRequest, at: Stamp): BeginAnswer {
    if (!books.leases.holds(unit, at)) return 'refused';
    if (unit.quota === null) return deliveries.begin(unit, at) ? 'begun' : 'refused';
    const found = deliveries.leased(unit);
    if (found === null || found.some(({ cancelRequested }) => cancelRequested)) return 'refused';
    // What has begun under this lease was taken then: the answer was lost, and it is asked again.
    const isNew = found.some(({ begunAt }) => begunAt === null);
    if (isNew && !books.quotas.take(unit.quota)) return 'over_quota';
    deliveries.begin(unit, at);
    return 'begun';
  }
}

/**
 * Builds the verb `settle`. What counts is the fence the deliveries carry: while they carry the unit's, nobody
 * else can have taken them, even if the lane's lease has ended, and the truth is worth recording.
 */
export function settleVerb(books: Books, deliveries: Deliveries, attempts: AttemptLog) {
  const settling = new Settling(books, deliveries, attempts, new Inserter(books));
  return (batch: readonly Settlement[], at: Stamp): SettleAnswer[] => {
    const settled = batch.map((settlement) => settling.settle(settlement, at));
    books.ledger.flush(at);
    return settled;
  };
}

/** Writes what attempts did. The messages are open then, and to be flushed. */
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

/** Builds the verb `release`: what is not leased under the unit's fence is left alone. */
export function releaseVerb(books: Books, deliveries: Deliveries) {
  return (units: readonly ReleaseRequest[], at: Stamp): SettleAnswer[] => {
    const released = units.map((unit) => releaseUnit(unit, at));
    books.ledger.flush(at);
    return released;
  };

  function releaseUnit(unit: ReleaseRequest, at: Stamp): SettleAnswer {
    const found = deliveries.leased(unit);
    if (found === null) return STALE;
    // What has not begun has taken nothing.
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
