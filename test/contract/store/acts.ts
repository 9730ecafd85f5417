import { afterEach, beforeEach, expect } from 'vitest';
import type { LaneLease } from '../../../src/domain/lane.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { AcceptRecord } from '../../../src/store/accepting.ts';
import {
  at,
  attempt,
  beginAll,
  DAY,
  DEFERRED,
  DELIVERED,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refTo,
  SETTLED,
  type Subject,
  settlement,
  T0,
  takeLane,
} from './fixtures.ts';

/** The states a delivery can be in, the way it got there, and what each act makes of it. */
export const STATES = [
  { state: 'queued', outcome: null, cancel: 'cancelled', cancelled: 'failed', requeue: 'nothing_to_retry' },
  {
    state: 'processing',
    outcome: null,
    cancel: 'cancelled',
    cancelled: 'processing',
    requeue: 'nothing_to_retry',
  },
  { state: 'retrying', outcome: DEFERRED, cancel: 'cancelled', cancelled: 'failed', requeue: 'requeued' },
  { state: 'failed', outcome: REJECTED, cancel: 'final', cancelled: 'failed', requeue: 'requeued' },
  {
    state: 'delivered',
    outcome: DELIVERED,
    cancel: 'final',
    cancelled: 'delivered',
    requeue: 'nothing_to_retry',
  },
] as const;

/** The expiry that retrying asks for in these tests. */
export const NEW_EXPIRY = T0 + 9 * DAY;

/** Opens a store for each test of a suite, holds its lane, and gives the tests hands. */
export function actsOver(open: OpenSubject) {
  let subject: Subject;
  let lease: LaneLease;
  beforeEach(async () => {
    subject = await open();
    lease = await takeLane(subject.store);
  });
  afterEach(() => subject.close());

  const show = (id: string) => read(subject.views, id);
  const statesOf = async (id: string) => (await show(id)).recipients.map(({ state }) => state);
  const cancel = async (id: string, ms = 0) => (await subject.store.cancel([id], at(ms)))[0];
  const requeue = async (id: string, ms = 0) =>
    (await subject.store.requeue([{ id, expiresAt: NEW_EXPIRY }], at(ms)))[0];
  const begin = async (id: string, indexes: readonly number[] = [0]) =>
    (await beginAll(subject.store, [refTo(id, lease, indexes)], at()))[0];
  /** Begins and settles at `T0 + ms`. */
  const attempted = async (id: string, outcomes: readonly Outcome[], ms = 0, indexes?: readonly number[]) =>
    expect(
      await attempt(subject.store, refTo(id, lease, indexes ?? [...outcomes.keys()]), outcomes, at(ms)),
    ).toEqual(SETTLED);
  /** Settles what has begun at `T0`. */
  const settle = async (id: string, outcomes: readonly Outcome[], ms = 0, indexes?: readonly number[]) => {
    const unit = refTo(id, lease, indexes ?? [...outcomes.keys()]);
    expect(await subject.store.settle([settlement(unit, outcomes)], at(ms))).toMatchObject([
      { kind: 'settled' },
    ]);
  };
  /** Accepts a message whose recipients are leased the short way. */
  const leased = async (recipients = 1, change: Partial<AcceptRecord> = {}) => {
    const deliveries = Array.from({ length: recipients }, () => recipient({ fence: lease.fence }));
    const record = message({ deliveries, ...change });
    await subject.store.accept([record], at());
    return record.id;
  };
  /** A message with one recipient in each state, in the order of {@link STATES}; what is in processing has begun. */
  const mixed = async () => {
    const deliveries = STATES.map(({ state }) =>
      recipient({ fence: state === 'queued' ? null : lease.fence }),
    );
    const record = message({ deliveries });
    await subject.store.accept([record], at());
    await attempted(record.id, [DEFERRED, REJECTED, DELIVERED], 0, [2, 3, 4]);
    expect(await begin(record.id, [1])).toBe('begun');
    return record.id;
  };

  return {
    show,
    statesOf,
    cancel,
    requeue,
    begin,
    attempted,
    settle,
    leased,
    mixed,
    get subject() {
      return subject;
    },
    get lease() {
      return lease;
    },
  };
}
