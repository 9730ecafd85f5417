/**
 * What the memory of the log believes, the database must not contradict: a fact that it refuses is refused for ever. Each test
 * ends with everything written there.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  at,
  beginAll,
  DELIVERED,
  HOUR,
  KEEP_ALL,
  message,
  POLICY,
  recipient,
  refTo,
  settlement,
  T0,
  takeLane,
} from '../../../test/contract/store/fixtures.ts';
import { type LoggedRig, openLoggedRig, UNLESS_ASKED } from '../../../test/support/logged-rig.ts';
import type { LaneLease } from '../../domain/lane.ts';
import { type Store, StoreError } from '../store.ts';

const SWEEP = { seize: false, policy: POLICY, dice: 0.5, limit: 10, longestLeaseMs: HOUR };
const STALE = { kind: 'stale' };

let rig: LoggedRig;
let lease: LaneLease;
/** By verb: holds up, or loses, what the database has answered. */
let answering: { [verb: string]: (() => Promise<void>) | undefined };

beforeEach(async () => {
  answering = {};
  const slowly =
    <Args extends unknown[], T>(verb: string, call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      const answer = await call(...args);
      await answering[verb]?.();
      return answer;
    };
  rig = await openLoggedRig(UNLESS_ASKED, ({ store }) => ({
    store: {
      ...store,
      renewLanes: slowly('renewLanes', store.renewLanes),
      releaseLanes: slowly('releaseLanes', store.releaseLanes),
      reclaim: slowly('reclaim', store.reclaim),
    } satisfies Store,
  }));
  lease = await takeLane(rig.store);
  await rig.logged.written();
});

afterEach(async () => {
  await rig.logged.written();
  await rig.close();
});

/** Holds up the answers of a verb until the function that it returns is called. */
function hold(verb: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  answering[verb] = () => promise;
  return resolve;
}

/** Until all that can go on has gone on. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
}

function fresh() {
  return message({ keyId: null, deliveries: [recipient({ fence: lease.fence })] });
}

async function accepted(now = 0): Promise<string> {
  const record = fresh();
  expect(await rig.store.accept([record], at(now))).toMatchObject([{ kind: 'accepted' }]);
  return record.id;
}

const begin = (id: string, now: number) => beginAll(rig.store, [refTo(id, lease)], at(now));
const end = (id: string, begunAt: number, now: number) =>
  rig.store.settle([settlement(refTo(id, lease), [DELIVERED], at(begunAt))], at(now));

test('a lane that was removed with its lease, by a clock ahead, is not held', async () => {
  await rig.store.purge(KEEP_ALL, 10, at(HOUR));
  const id = await accepted(1);
  await rig.store.reclaim(SWEEP, at(2));
  expect(await begin(id, 3)).toEqual(['refused']);
});

test('an attempt that is begun again while its first end is written has no end', async () => {
  const id = await accepted();
  expect(await begin(id, 1)).toEqual(['begun']);
  const again = begin(id, 2);
  expect(await end(id, 1, 3)).toEqual([STALE]);
  expect(await again).toEqual(['begun']);
});

test('a lease that is renewed for less ends as early, though nobody has heard of it yet', async () => {
  const id = await accepted();
  await begin(id, 1);
  const release = [hold('renewLanes'), hold('reclaim')];
  const renewed = rig.store.renewLanes([lease], T0 - HOUR, at(-2 * HOUR));
  const reclaimed = rig.store.reclaim(SWEEP, at(2));
  await settled();
  release[0]?.();
  await renewed;
  expect(await end(id, 1, 3)).toEqual([STALE]);
  release[1]?.();
  await reclaimed;
});

test('a lease that was renewed for less ends as early, where the answer is lost', async () => {
  const id = await accepted();
  answering['renewLanes'] = () => Promise.reject(new StoreError('store_unavailable', 'lost'));
  await expect(rig.store.renewLanes([lease], T0 + 2, at(1))).rejects.toThrow('lost');
  await rig.store.reclaim(SWEEP, at(2));
  expect(await begin(id, 3)).toEqual(['refused']);
});

test('a lease that is given back while it is renewed is not held once that is answered', async () => {
  const release = [hold('renewLanes'), hold('releaseLanes')];
  const renewed = rig.store.renewLanes([lease], T0 + HOUR, at(1));
  const released = rig.store.releaseLanes([lease], at(1));
  await settled();
  release[0]?.();
  await renewed;
  const record = fresh();
  expect(await rig.store.accept([record], at(2))).toEqual([{ kind: 'accepted', leased: [false] }]);
  release[1]?.();
  await released;
});

test('a lease whose return was not answered is not held', async () => {
  const renewing = hold('renewLanes');
  const renewed = rig.store.renewLanes([lease], T0 + HOUR, at(1));
  answering['releaseLanes'] = () => Promise.reject(new StoreError('store_unavailable', 'lost'));
  const released = rig.store.releaseLanes([lease], at(1));
  await expect(released).rejects.toThrow('lost');
  renewing();
  await renewed;
  expect(await rig.store.accept([fresh()], at(2))).toEqual([{ kind: 'accepted', leased: [false] }]);
});

test('what is cancelled while it is accepted does not begin', async () => {
  const record = fresh();
  const answer = rig.store.accept([record], at(1));
  expect(await rig.store.cancel([record.id], at(1))).toEqual(['cancelled']);
  await answer;
  expect(await begin(record.id, 3)).toEqual(['refused']);
});

test('an end for nobody is stale', async () => {
  const id = await accepted();
  await begin(id, 1);
  const none = settlement(refTo(id, lease, []), [], at(1));
  expect(await rig.store.settle([none], at(3))).toEqual([STALE]);
  await end(id, 1, 4);
});
