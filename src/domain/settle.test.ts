import { expect, test } from 'vitest';
import { localReply, type Outcome, outcomeOfReplyCode } from './outcome.ts';
import { endCancelled, retryDelayMs, type SettlePolicy, type SettlingDelivery, settle } from './settle.ts';

const policy: SettlePolicy = { firstMs: 30_000, maxMs: 3_600_000, maxAgeMs: 172_800_000, ambiguous: 'retry' };
const fresh: SettlingDelivery = { attempts: 0, expiresAt: 1_000_000_000 };
const reply = localReply('test', '4.0.0', 'said the peer');
const deferred: Outcome = { kind: 'deferred', reply };
const unknown: Outcome = { kind: 'unknown', reply };

test('a 2xx is delivered and keeps what the provider called it', () => {
  const outcome: Outcome = {
    kind: 'delivered',
    captured: false,
    reply,
    providerMessageId: 'ABC',
    dsnPassed: false,
  };
  expect(settle(fresh, outcome, policy, 5, 0.5)).toEqual({
    state: 'delivered',
    outcome: 'accepted',
    nextAttemptAt: null,
    next: null,
    reply,
    providerMessageId: 'ABC',
    possibleDuplicate: false,
  });
});

test('the local inbox captures', () => {
  const outcome: Outcome = {
    kind: 'delivered',
    captured: true,
    reply,
    providerMessageId: null,
    dsnPassed: false,
  };
  expect(settle(fresh, outcome, policy, 5, 0.5).outcome).toBe('captured');
});

test('a rejection fails at once', () => {
  expect(settle(fresh, { kind: 'rejected', reply }, policy, 5, 0.5)).toMatchObject({
    state: 'failed',
    outcome: 'rejected',
  });
});

test('a deferral waits 30 s, then twice as long each time, at most an hour, 20 % either way', () => {
  expect(settle(fresh, deferred, policy, 5, 0.5)).toMatchObject({ state: 'retrying', nextAttemptAt: 30_005 });
  expect([1, 2, 3, 7, 8, 9, 1000].map((n) => retryDelayMs(n, policy, 0.5))).toEqual([
    30_000, 60_000, 120_000, 1_920_000, 3_600_000, 3_600_000, 3_600_000,
  ]);
  expect([0, 0.5, 0.999999].map((dice) => retryDelayMs(1, policy, dice))).toEqual([24_000, 30_000, 36_000]);
});

test('a deferral past the expiry fails as expired; before it, the last try is at the expiry', () => {
  const old = { ...fresh, expiresAt: 100_000 };
  expect(settle(old, deferred, policy, 100_000, 0.5)).toMatchObject({ state: 'failed', outcome: 'expired' });
  expect(settle(old, deferred, policy, 90_000, 0.5)).toMatchObject({ nextAttemptAt: 100_000 });
});

test('a deferral after a cancellation ends cancelled, a delivery stays delivered', () => {
  const cancelled = (outcome: Outcome) => endCancelled(settle(fresh, outcome, policy, 5, 0.5));
  const ended = { state: 'failed', outcome: 'cancelled', nextAttemptAt: null };
  expect(cancelled(deferred)).toMatchObject({ ...ended, possibleDuplicate: false });
  expect(cancelled(unknown)).toMatchObject({ ...ended, possibleDuplicate: true });
  expect(cancelled({ kind: 'rejected', reply }).outcome).toBe('rejected');
  const taken: Outcome = {
    kind: 'delivered',
    captured: false,
    reply,
    providerMessageId: null,
    dsnPassed: false,
  };
  expect(cancelled(taken).state).toBe('delivered');
});

test('an ambiguous end is flagged: tried again, or held, as configured', () => {
  expect(settle(fresh, unknown, policy, 5, 0.5)).toMatchObject({
    state: 'retrying',
    possibleDuplicate: true,
  });
  expect(settle(fresh, unknown, { ...policy, ambiguous: 'hold' }, 5, 0.5)).toMatchObject({
    state: 'failed',
    outcome: 'unknown',
    possibleDuplicate: true,
  });
});

test.each([
  [200, 'delivered'],
  [250, 'delivered'],
  [354, 'deferred'],
  [421, 'deferred'],
  [452, 'deferred'],
  [500, 'rejected'],
  [550, 'rejected'],
  [599, 'rejected'],
  [600, 'deferred'],
  [0, 'deferred'],
])('reply %i means %s', (code, kind) => {
  expect(outcomeOfReplyCode(code)).toBe(kind);
});
