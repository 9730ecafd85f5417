/** Mail that was claimed is hot too: what attempts at it do goes into the log. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  at,
  beginAll,
  DAY,
  DEFERRED,
  DELIVERED,
  HOUR,
  MINUTE,
  message,
  POLICY,
  read,
  recipient,
  refTo,
  SETTLED,
  settlement,
  T0,
  takeLane,
} from '../../../test/contract/store/fixtures.ts';
import { type LoggedRig, openLoggedRig, UNLESS_ASKED } from '../../../test/support/logged-rig.ts';
import type { LaneLease } from '../../domain/lane.ts';
import type { Store } from '../store.ts';

let rig: LoggedRig;
let lease: LaneLease;
/** Holds up the answers of claims, which the database has given. */
let held: Promise<void>;

beforeEach(async () => {
  held = Promise.resolve();
  rig = await openLoggedRig(UNLESS_ASKED, ({ store }) => ({
    store: {
      ...store,
      claim: async (...args: Parameters<Store['claim']>) => {
        const answers = await store.claim(...args);
        await held;
        return answers;
      },
    },
  }));
  lease = await takeLane(rig.store);
});

afterEach(() => rig.close());

/** A message that waits in the database. */
async function waiting(): Promise<string> {
  const record = message({ deliveries: [recipient({ fence: null })] });
  expect(await rig.store.accept([record], at())).toEqual([{ kind: 'accepted', leased: [false] }]);
  return record.id;
}

async function claimAll(now = 1): Promise<string[]> {
  const request = { ...lease, order: 'high_first', limit: 10, maxRecipients: 10 } as const;
  const [answer] = await rig.store.claim([request], at(now));
  return (answer?.units ?? []).map(({ messageId }) => messageId);
}

test('it is begun and settled by the log alone, until somebody asks', async () => {
  const id = await waiting();
  expect(await claimAll()).toEqual([id]);
  const flushes = rig.spool.flushes();
  expect(await beginAll(rig.store, [refTo(id, lease)], at(2))).toEqual(['begun']);
  const done = settlement(refTo(id, lease), [DELIVERED], at(2));
  expect(await rig.store.settle([done], at(3))).toEqual([SETTLED]);
  expect(rig.spool.flushes()).toBe(flushes + 2);
  expect((await read(rig.inner.views, id)).message.status).toBe('processing');
  await rig.logged.written();
  expect((await read(rig.inner.views, id)).message.status).toBe('delivered');
});

test('what was put off is claimed anew, and is hot again', async () => {
  const id = await waiting();
  await claimAll();
  await beginAll(rig.store, [refTo(id, lease)], at(2));
  await rig.store.settle([settlement(refTo(id, lease), [DEFERRED], at(2))], at(3));
  await rig.store.renewLanes([lease], T0 + 3 * HOUR, at(4));
  expect(await claimAll(HOUR)).toEqual([id]);
  const flushes = rig.spool.flushes();
  expect(await beginAll(rig.store, [refTo(id, lease)], at(HOUR + 1))).toEqual(['begun']);
  expect(rig.spool.flushes()).toBe(flushes + 1);
});

test('its lease is as short as the database has it, after clocks that were set back and forward', async () => {
  const id = await waiting();
  await claimAll();
  await beginAll(rig.store, [refTo(id, lease)], at(2));
  const sweep = { seize: false, policy: POLICY, dice: 0.5, limit: 10, longestLeaseMs: MINUTE };
  await rig.store.reclaim(sweep, at(-DAY));
  // By that clock it may last for a minute: by this one it has ended, before its time.
  await rig.store.reclaim(sweep, at(3));
  const done = settlement(refTo(id, lease), [DELIVERED], at(2));
  expect(await rig.store.settle([done], at(4))).toEqual([{ kind: 'stale' }]);
  await rig.logged.written();
  expect((await read(rig.inner.views, id)).message).toMatchObject({ status: 'retrying' });
});

describe('while its claim is under way', () => {
  async function meanwhile(act: () => Promise<unknown>): Promise<string> {
    const id = await waiting();
    const answer = Promise.withResolvers<void>();
    held = answer.promise;
    const claimed = claimAll();
    await act();
    answer.resolve();
    await claimed;
    return id;
  }

  test('it may be cancelled: then it does not begin', async () => {
    const id = await waiting();
    const answer = Promise.withResolvers<void>();
    held = answer.promise;
    const claimed = claimAll();
    expect(await rig.store.cancel([id], at(2))).toEqual(['cancelled']);
    answer.resolve();
    expect(await claimed).toEqual([id]);
    expect(await beginAll(rig.store, [refTo(id, lease)], at(3))).toEqual(['refused']);
  });

  test('its lane may be given back: then it does not begin', async () => {
    const id = await meanwhile(() => rig.store.releaseLanes([lease], at(2)));
    expect(await beginAll(rig.store, [refTo(id, lease)], at(3))).toEqual(['refused']);
  });

  test('everything may be seized: then the database has it', async () => {
    const seize = { seize: true, policy: POLICY, dice: 0.5, limit: 10 };
    const id = await meanwhile(() => rig.store.reclaim(seize, at(2)));
    expect(await beginAll(rig.store, [refTo(id, lease)], at(3))).toEqual(['refused']);
    expect((await read(rig.inner.views, id)).message.status).toBe('queued');
  });
});
