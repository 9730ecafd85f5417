/** The limits of the queue, where some mail goes by the log and some by the database. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  at,
  beginAll,
  DELIVERED,
  message,
  recipient,
  refTo,
  report,
  settlement,
  takeLane,
} from '../../../test/contract/store/fixtures.ts';
import { type LoggedRig, openLoggedRig, UNLESS_ASKED } from '../../../test/support/logged-rig.ts';
import type { LaneLease } from '../../domain/lane.ts';
import type { AcceptRecord, QueueLimits } from '../accepting.ts';

const ACCEPTED = [{ kind: 'accepted', leased: [true] }];
const FULL = [{ kind: 'queue_full' }];
/** Room for not quite two messages. */
const LIMITS: QueueLimits = { maxBytes: 2_000, maxMessagesPerKey: 100 };

let rig: LoggedRig;
let lease: LaneLease;

beforeEach(async () => {
  rig = await openLoggedRig();
  lease = await takeLane(rig.store);
});

afterEach(async () => await rig.close());

/** A message that takes the short way. */
function fresh(change: Partial<AcceptRecord> = {}): AcceptRecord {
  return message({ keyId: null, deliveries: [recipient({ fence: lease.fence })], ...change });
}

test('count what the database takes behind what was in the log', async () => {
  await rig.store.accept([fresh()], at());
  const tied = fresh({ idempotency: { key: 'k', hash: 'h' } });
  expect(await rig.store.accept([tied], at(), LIMITS)).toEqual(ACCEPTED);
  expect(await rig.store.accept([fresh()], at(), LIMITS)).toMatchObject(FULL);
});

test('count reports that the database writes', async () => {
  const record = fresh();
  await rig.store.accept([record], at());
  await beginAll(rig.store, [refTo(record.id, lease)], at(1));
  const content = { segment: 1, offset: 5_000, length: 2_000 };
  const end = { ...settlement(refTo(record.id, lease), [DELIVERED], at(1)), report: report({ content }) };
  await rig.store.settle([end], at(2));
  expect(await rig.store.accept([fresh()], at(2), LIMITS)).toMatchObject(FULL);
});

test('let in together what surely fits, as one fact, and leave the rest to the database', async () => {
  const applied: string[] = [];
  const watched = await openLoggedRig(UNLESS_ASKED, ({ applying }) => ({
    applying: {
      apply: (facts, ...args) => {
        applied.push(...facts);
        return applying.apply(facts, ...args);
      },
    },
  }));
  const limits = { ...LIMITS, maxBytes: 3_000 };
  const two = () => [message({ keyId: null }), message({ keyId: null })];
  await watched.logged.written();
  const answers = await watched.store.accept(two(), at(), limits, true);
  expect(answers.map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
  await watched.logged.written();
  expect(applied, 'a torn flush has both or neither').toHaveLength(1);
  expect(await watched.store.accept(two(), at(), limits, true)).toMatchObject([...FULL, ...FULL]);
  expect(await watched.store.accept(two().slice(1), at(), limits)).toMatchObject([{ kind: 'accepted' }]);
  await watched.close();
});

test('let a key use the log again once its mail is final', async () => {
  const limits = { maxBytes: 1_000_000, maxMessagesPerKey: 3 };
  const ways: string[] = [];
  for (let nth = 0; nth < 12; nth++) {
    const record = fresh({ keyId: 'key_one' });
    expect(await rig.store.accept([record], at(), limits)).toEqual(ACCEPTED);
    ways.push((await rig.inner.views.message(record.id)) === null ? 'log' : 'database');
    await beginAll(rig.store, [refTo(record.id, lease)], at(1));
    await rig.store.settle([settlement(refTo(record.id, lease), [DELIVERED], at(1))], at(2));
    await rig.logged.written();
  }
  // The first is decided by the database, which nobody has heard of the key yet.
  expect(ways).toEqual(['database', ...Array.from({ length: 11 }, () => 'log')]);
});

test('count what waits behind a full backlog', async () => {
  const gate = Promise.withResolvers<void>();
  let isOpen = true;
  const slow = await openLoggedRig(UNLESS_ASKED, ({ applying }) => ({
    applying: {
      apply: async (...args) => {
        if (!isOpen) await gate.promise;
        return await applying.apply(...args);
      },
    },
  }));
  const { fence } = await takeLane(slow.store);
  const here = (note = '') => fresh({ metadata: { note }, deliveries: [recipient({ fence })] });
  isOpen = false;
  const long = 'x'.repeat(6 * 1024 * 1024);
  for (let nth = 0; nth < 3; nth++) await slow.store.accept([here(long)], at());
  const limits = { maxBytes: 4_000, maxMessagesPerKey: 100 };
  const answers = Promise.all([
    slow.store.accept([here()], at(), limits),
    slow.store.accept([here()], at(), limits),
  ]);
  await new Promise(setImmediate);
  gate.resolve();
  expect(await answers).toMatchObject([[{ kind: 'accepted' }], FULL]);
  await slow.close();
});
