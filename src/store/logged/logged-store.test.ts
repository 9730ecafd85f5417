import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  at,
  beginAll,
  DEFERRED,
  DELIVERED,
  HOUR,
  KEEP_ALL,
  message,
  POLICY,
  read,
  recipient,
  refTo,
  releaseAll,
  SETTLED,
  settlement,
  T0,
  takeLane,
} from '../../../test/contract/store/fixtures.ts';
import { holdFlush, type LoggedRig, openLoggedRig, UNLESS_ASKED } from '../../../test/support/logged-rig.ts';
import { entryOf } from '../../../test/support/spool-entry.ts';
import { TELL_RULES } from '../../../test/support/telling.ts';
import type { LaneLease } from '../../domain/lane.ts';
import { SpoolError } from '../../spool/spool.ts';
import type { AcceptRecord } from '../accepting.ts';
import type { Applying } from '../applying.ts';
import { openSqlite } from '../sqlite/open.ts';
import { type Store, StoreError } from '../store.ts';
import { viewsBehind } from './written-behind.ts';

const ACCEPTED = [{ kind: 'accepted', leased: [true] }];

let rig: LoggedRig;
let lease: LaneLease;
const opened: LoggedRig[] = [];

beforeEach(async () => await open());

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** Opens a store with a lane that is held; of the rigs of a test the last is in use. */
async function open(...args: Parameters<typeof openLoggedRig>): Promise<void> {
  rig = await openLoggedRig(...args);
  opened.push(rig);
  lease = await takeLane(rig.store);
}

/** Opens one where `apply` stands before the database's. */
async function openBehind(apply: (real: Applying) => Applying['apply']): Promise<void> {
  await open(UNLESS_ASKED, ({ applying }) => ({
    applying: { apply: apply(applying) },
  }));
}

/** A message that takes the short way. */
function fresh(change: Partial<AcceptRecord> = {}): AcceptRecord {
  return message({ deliveries: [recipient({ fence: lease.fence })], ...change });
}

async function acceptOne(store = rig.store): Promise<AcceptRecord> {
  const record = fresh();
  expect(await store.accept([record], at())).toEqual(ACCEPTED);
  return record;
}

/** What the log took of the way in: contents and facts together. */
function take(record: AcceptRecord, chunk = 'x') {
  const { content } = entryOf(chunk);
  return rig.logged.take(
    [
      {
        messageId: record.id,
        content,
        wish: { keyId: null, sizeBytes: content.sizeBytes, idempotency: null },
        recipients: record.deliveries.map(({ recipient }) => recipient),
        record: (ref) => ({ ...record, content: ref }),
      },
    ],
    {
      at: () => at(),
      limits: { maxBytes: Number.MAX_SAFE_INTEGER, maxMessagesPerKey: Number.MAX_SAFE_INTEGER },
      counted: () => {},
    },
  );
}

describe('fresh mail', () => {
  test('is accepted, begun and settled by the log alone, until somebody asks', async () => {
    const record = await acceptOne();
    expect(await beginAll(rig.store, [refTo(record.id, lease)], at(1))).toEqual(['begun']);
    const done = settlement(refTo(record.id, lease), [DELIVERED], at(1));
    expect(await rig.store.settle([done], at(2))).toEqual([SETTLED]);
    expect(await rig.inner.views.message(record.id)).toBeNull();
    await rig.logged.written();
    expect((await read(rig.inner.views, record.id)).message.status).toBe('delivered');
  });

  test('has its contents and its facts in one flush', async () => {
    rig.disk.calls.length = 0;
    const record = fresh();
    expect(await take(record)).toEqual(ACCEPTED);
    expect(rig.disk.count('fdatasync')).toBe(1);
    await rig.logged.written();
    expect((await read(rig.inner.views, record.id)).message.id).toBe(record.id);
  });
});

describe('who asks while a flush is under way', () => {
  test.each([
    ['a verb', async (id: string) => await rig.store.cancel([id], at(1))],
    ['a view', async (id: string) => (await viewsOf(rig).message(id))?.message.id],
  ])('sees what it writes: %s', async (_, ask) => {
    const record = fresh();
    const flush = holdFlush(rig.disk);
    const accepted = rig.store.accept([record], at());
    await flush.begun;
    const asked = ask(record.id);
    flush.release();
    expect(await accepted).toEqual(ACCEPTED);
    const answer = await asked;
    const plain = await plainWith(record);
    const isView = typeof answer === 'string';
    expect(answer).toEqual(isView ? record.id : await plain.store.cancel([record.id], at(1)));
    await plain.store.close();
  });

  test('waits for it', async () => {
    const record = fresh();
    const flush = holdFlush(rig.disk);
    const order: string[] = [];
    const accepted = rig.store.accept([record], at()).then(() => order.push('accepted'));
    await flush.begun;
    const asked = rig.store.claim([], at()).then(() => order.push('claimed'));
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    flush.release();
    await Promise.all([accepted, asked]);
    expect(order).toEqual(['accepted', 'claimed']);
  });
});

describe('mail is cancelled, retried or given back while it begins', () => {
  const ACTS: [string, (store: Store, id: string, held: LaneLease) => Promise<unknown>][] = [
    ['cancel', (store, id) => store.cancel([id], at(2))],
    ['requeue', (store, id) => store.requeue([{ id, expiresAt: T0 + HOUR }], at(2))],
    ['release', (store, id, held) => releaseAll(store, [refTo(id, held)], at(2))],
  ];

  /** Ends the attempt for now: what was cancelled meanwhile must not wait again. */
  function defer(store: Store, id: string): Promise<unknown> {
    return store.settle([settlement(refTo(id, lease), [DEFERRED], at(1))], at(3));
  }

  /** What the two come to one after the other in a plain store, and the record after them. */
  async function plainly(record: AcceptRecord, ...verbs: ((store: Store) => Promise<unknown>)[]) {
    const plain = await plainWith(record);
    const answers: unknown[] = [];
    for (const verb of verbs) answers.push(await verb(plain.store));
    const ended = await defer(plain.store, record.id);
    const seen = await read(plain.views, record.id);
    await plain.store.close();
    return { answers, ended, seen };
  }

  test.each(ACTS)('%s comes after what is being flushed', async (_, act) => {
    const record = await acceptOne();
    const begin = (store: Store) => beginAll(store, [refTo(record.id, lease)], at(1));
    const flush = holdFlush(rig.disk);
    const begun = begin(rig.store);
    await flush.begun;
    const acted = act(rig.store, record.id, lease);
    flush.release();
    const answers = [await begun, await acted];
    const ended = await defer(rig.store, record.id);
    const seen = await read(viewsOf(rig), record.id);
    expect({ answers, ended, seen }).toEqual(
      await plainly(record, begin, (store) => act(store, record.id, lease)),
    );
  });

  test.each(ACTS)('%s in the same turn is before or after it, whole', async (_, act) => {
    const record = await acceptOne();
    const begin = (store: Store) => beginAll(store, [refTo(record.id, lease)], at(1));
    const late = (store: Store) => act(store, record.id, lease);
    const begun = begin(rig.store);
    const acted = late(rig.store);
    const answers = [await begun, await acted];
    const ended = await defer(rig.store, record.id);
    const seen = await read(viewsOf(rig), record.id);
    const before = await plainly(record, late, begin);
    expect([
      await plainly(record, begin, late),
      { ...before, answers: before.answers.toReversed() },
    ]).toContainEqual({ answers, ended, seen });
  });
});

describe('a full disk', () => {
  const NO_ROOM = { code: 'store_full' };

  test('refuses to accept, and the same call succeeds once there is room', async () => {
    rig.disk.fail('writev', 'ENOSPC');
    const record = fresh();
    await expect(rig.store.accept([record], at())).rejects.toMatchObject(NO_ROOM);
    const taken = fresh();
    const refused = await take(taken).catch((error: unknown) => error);
    expect([refused instanceof SpoolError, refused]).toMatchObject([true, { code: 'spool_full' }]);
    expect(await viewsOf(rig).message(record.id)).toBeNull();
    rig.disk.set('writev', null);
    expect(await rig.store.accept([record], at())).toEqual(ACCEPTED);
    expect(await take(taken)).toEqual(ACCEPTED);
    expect((await read(viewsOf(rig), taken.id)).message.status).toBe('processing');
  });

  test('refuses to begin and to settle, and the same calls succeed once there is room', async () => {
    const record = await acceptOne();
    const begin = () => beginAll(rig.store, [refTo(record.id, lease)], at(1));
    rig.disk.fail('writev', 'ENOSPC');
    await expect(begin()).rejects.toMatchObject(NO_ROOM);
    rig.disk.set('writev', null);
    expect(await begin()).toEqual(['begun']);
    const settle = () => rig.store.settle([settlement(refTo(record.id, lease), [DELIVERED], at(1))], at(2));
    rig.disk.fail('writev', 'ENOSPC');
    await expect(settle()).rejects.toMatchObject(NO_ROOM);
    expect(rig.disk.count('ftruncate')).toBe(2);
    rig.disk.set('writev', null);
    expect(await settle()).toEqual([SETTLED]);
    expect(await rig.inner.views.message(record.id), 'settled by the log').toBeNull();
    expect((await read(viewsOf(rig), record.id)).message.status).toBe('delivered');
  });

  test('refuses nothing that the database alone answers', async () => {
    const record = await acceptOne();
    rig.disk.fail('writev', 'ENOSPC');
    await rig.store.cancel([record.id], at(1));
    expect(await takeLane(rig.store, 'other')).toMatchObject({ lane: 'other' });
  });
});

describe('a database that has no room for a while', () => {
  const FULL = new StoreError('store_full', 'simulated');

  test('never lets a verb see less than was answered', async () => {
    let fails = false;
    const failure = Promise.withResolvers<never>();
    await openBehind(
      (real) =>
        (...args) =>
          fails ? failure.promise : real.apply(...args),
    );
    const record = await acceptOne();
    fails = true;
    const written = rig.logged.written();
    await new Promise(setImmediate);
    // What was accepted has been sent, and the answer is under way.
    const cancelled = rig.store.cancel([record.id], at(1));
    fails = false;
    failure.reject(FULL);
    await expect(written).rejects.toBe(FULL);
    await expect(cancelled).rejects.toBe(FULL);
    const plain = await plainWith(record);
    const expected = await plain.store.cancel([record.id], at(1));
    await plain.store.close();
    expect(await rig.store.cancel([record.id], at(1))).toEqual(expected);
  });

  test('answers again once it has room, though only a question had failed', async () => {
    let fails = false;
    await openBehind(
      (real) =>
        (...args) =>
          fails ? Promise.reject(FULL) : real.apply(...args),
    );
    const idempotency = { key: 'k', hash: 'h' };
    // The database decides, and is asked how much is used then, which fails.
    const decided = rig.store.accept([fresh({ idempotency })], at(), { maxBytes: 1, maxMessagesPerKey: 1 });
    fails = true;
    await decided;
    await new Promise(setImmediate);
    fails = false;
    expect(await rig.store.claim([], at())).toEqual([]);
  });
});

test.each<[string, (store: Store) => Promise<unknown>]>([
  ['given back', (store) => store.releaseLanes([lease], at())],
  ['taken away', (store) => store.reclaim({ seize: true, policy: POLICY, dice: 0, limit: 1 }, at())],
])('a lease that was %s while it was being renewed does not hold', async (_, end) => {
  const renewed = rig.store.renewLanes([lease], T0 + HOUR, at());
  const ended = end(rig.store);
  await Promise.all([renewed, ended]);
  expect(await rig.store.accept([fresh()], at())).toEqual([{ kind: 'accepted', leased: [false] }]);
});

const ERASING = {
  id: 'era_1',
  person: { address: 'ann@example.org', unicodeDomain: 'example.org', pseudonym: 'erased-0@erased.invalid' },
  limit: 1,
  holds: false,
};

describe('a log that failed', () => {
  const VERBS: { readonly [Name in Exclude<keyof Store, 'close'>]: (store: Store) => Promise<unknown> } = {
    accept: (store) => store.accept([fresh()], at()),
    foresee: (store) => store.foresee([], at(), { maxBytes: 1, maxMessagesPerKey: 1 }),
    begin: (store) => beginAll(store, [refTo('msg_unknown', lease)]),
    settle: (store) => store.settle([settlement(refTo('msg_unknown', lease), [DELIVERED])], at()),
    release: (store) => releaseAll(store, [refTo('msg_unknown', lease)]),
    claim: (store) => store.claim([], at()),
    acquireLanes: (store) => store.acquireLanes([], 1, T0 + HOUR, at()),
    renewLanes: (store) => store.renewLanes([lease], T0 + HOUR, at()),
    releaseLanes: (store) => store.releaseLanes([lease], at()),
    reclaim: (store) => store.reclaim({ seize: true, policy: POLICY, dice: 0, limit: 1 }, at()),
    cancel: (store) => store.cancel([], at()),
    requeue: (store) => store.requeue([], at()),
    reschedule: (store) => store.reschedule([], at()),
    expiring: (store) => store.expiring(1, at()),
    expire: (store) => store.expire([], at()),
    reassign: (store) => store.reassign([], at()),
    purge: (store) => store.purge(KEEP_ALL, 1, at()),
    discard: (store) => store.discard([], at()),
    erase: (store) => store.erase(ERASING, at()),
    mark: (store) => store.mark([], at()),
    index: (store) => store.index(1),
    liveSegments: (store) => store.liveSegments([]),
    segmentUse: (store) => store.segmentUse([]),
    relocatable: (store) => store.relocatable([]),
    relocate: (store) => store.relocate([], at()),
    forgetSegments: (store) => store.forgetSegments([]),
    decideRestored: (store) => store.decideRestored('cancel', T0 + HOUR, 1, at()),
    tell: (store) => store.tell([], TELL_RULES, at()),
    retell: (store) => store.retell('', 1, TELL_RULES, at()),
    suppress: (store) => store.suppress([], at()),
    guard: (store) => store.guard('example.org', 'sup_', at()),
    tellRelays: (store) => store.tellRelays([], at()),
    tally: (store) => store.tally([], at()),
  };

  test('lets no verb be answered any more, and none contradict what may be on the disk', async () => {
    const record = await acceptOne();
    rig.disk.fail('fdatasync', 'EIO');
    await expect(beginAll(rig.store, [refTo(record.id, lease)], at(1))).rejects.toMatchObject({
      code: 'store_failed',
    });
    rig.disk.set('fdatasync', async () => {});
    for (const [name, verb] of Object.entries(VERBS)) {
      const outcome = await verb(rig.store).catch((error: unknown) => error);
      expect([name, outcome instanceof StoreError && outcome.code]).toEqual([name, 'store_failed']);
    }
    await expect(take(fresh())).rejects.toMatchObject({ code: 'spool_failed' });
  });

  test('was taken back, and what was answered before is written when it closes', async () => {
    const record = await acceptOne();
    rig.disk.fail('fdatasync', 'EIO');
    const refused = fresh();
    await expect(rig.store.accept([refused], at())).rejects.toMatchObject({ code: 'store_failed' });
    await rig.logged.finish();
    expect((await read(rig.inner.views, record.id)).message.status).toBe('processing');
    expect(await rig.inner.views.message(refused.id)).toBeNull();
  });
});

test('who brings in more than the database can follow waits for it', async () => {
  const gate = Promise.withResolvers<void>();
  let isOpen = true;
  await openBehind((real) => async (...args) => {
    if (!isOpen) await gate.promise;
    return await real.apply(...args);
  });
  isOpen = false;
  const large = Array.from({ length: 3 }, () => fresh({ metadata: { note: 'x'.repeat(6 * 1024 * 1024) } }));
  for (const one of large) expect(await rig.store.accept([one], at())).toEqual(ACCEPTED);
  let isAnswered = false;
  const late = rig.store.accept([fresh()], at()).then((answer) => {
    isAnswered = true;
    return answer;
  });
  // What was accepted goes on; it would share the flush of what waits, or have a later one.
  const units = large.map(({ id }) => refTo(id, lease));
  expect(await beginAll(rig.store, units, at(1))).toEqual(['begun', 'begun', 'begun']);
  await new Promise(setImmediate);
  expect(isAnswered).toBe(false);
  gate.resolve();
  expect(await late).toEqual(ACCEPTED);
});

function viewsOf({ logged, inner }: LoggedRig) {
  return viewsBehind(() => logged.written(), inner.views);
}

/** A plain store with the same lane, and a message in it. */
async function plainWith(record: AcceptRecord) {
  const plain = openSqlite(':memory:');
  expect(await takeLane(plain.store)).toEqual(lease);
  expect(await plain.store.accept([record], at())).toEqual(ACCEPTED);
  return plain;
}
