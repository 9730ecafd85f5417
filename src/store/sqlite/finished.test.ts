import { beforeEach, describe, expect, test } from 'vitest';
import {
  at,
  DELIVERED,
  message,
  read,
  recipient,
  refTo,
  settlement,
  T0,
  takeLane,
} from '../../../test/contract/store/fixtures.ts';
import type { LaneLease } from '../../domain/lane.ts';
import type { LogPlace } from '../../domain/log-place.ts';
import type { AcceptRecord } from '../accepting.ts';
import { factOf, factText } from '../applying.ts';
import { openSqlite, type SqliteStores } from './open.ts';

const START = place(0);

let stores: SqliteStores;
let lease: LaneLease;

beforeEach(async () => {
  stores = openSqlite(':memory:');
  lease = await takeLane(stores.store);
  return () => stores.store.close();
});

function place(offset: number): LogPlace {
  return { segment: 3, offset };
}

function fresh(change: Partial<AcceptRecord> = {}): AcceptRecord {
  return message({ deliveries: [recipient({ fence: lease.fence })], ...change });
}

function accepted(...records: AcceptRecord[]): string {
  return factText({ verb: 'accept', at: at(), batch: records.map((record) => ({ record, leased: [true] })) });
}

function begun({ id }: AcceptRecord, held = lease): string {
  return factText({ verb: 'begin', at: at(1), units: [refTo(id, held)] });
}

function settled({ id }: AcceptRecord, held = lease): string {
  return factText({ verb: 'settle', at: at(2), batch: [settlement(refTo(id, held), [DELIVERED], at(1))] });
}

async function apply(facts: readonly string[], from: LogPlace | null, end: LogPlace) {
  return await stores.applying.apply(facts, from, end, []);
}

describe('facts of the log', () => {
  test('are written with where they end, over one call or several', async () => {
    const [one, other] = [fresh(), fresh()];
    expect(await stores.applying.logMark()).toBeNull();
    await apply([], null, START);
    expect(await stores.applying.logMark()).toEqual(START);
    await apply([accepted(one, other), begun(one), settled(one)], START, place(10));
    await apply([begun(other)], place(10), place(20));
    expect(await stores.applying.logMark()).toEqual(place(20));
    await apply([settled(other)], place(20), place(30));
    for (const { id } of [one, other])
      expect((await read(stores.views, id)).message).toMatchObject({ id, status: 'delivered' });
  });

  test('are answered with how much of the queue is used', async () => {
    await apply([], null, START);
    const records = [fresh({ keyId: 'key_one' }), fresh({ keyId: 'key_one' }), fresh({ keyId: null })];
    const facts = [accepted(...records), ...records.slice(0, 1).flatMap((one) => [begun(one), settled(one)])];
    const use = await stores.applying.apply(facts, START, place(10), ['key_one', 'key_two']);
    expect(use).toEqual({
      bytes: 2_000,
      messages: [
        ['key_one', 1],
        ['key_two', 0],
      ],
    });
  });

  test.each([
    ['from an earlier place, as when they come twice', START],
    ['from a later place, as when those before them failed', place(15)],
    ['from another segment', { ...place(10), segment: 4 }],
    ['as the first of a log', null],
  ])('are refused where nothing has ended: %s', async (_, from) => {
    await apply([], null, START);
    await apply([accepted(fresh())], START, place(10));
    const late = fresh();
    await expect(apply([accepted(late)], from, place(20))).rejects.toMatchObject({ code: 'store_busy' });
    expect(await stores.views.message(late.id)).toBeNull();
    expect(await stores.applying.logMark()).toEqual(place(10));
    await apply([accepted(late)], place(10), place(20));
    expect((await read(stores.views, late.id)).message.id).toBe(late.id);
  });

  test('that have a beginning are refused where there never was a log', async () => {
    await expect(apply([accepted(fresh())], START, place(10))).rejects.toMatchObject({ code: 'store_busy' });
    expect(await stores.applying.logMark()).toBeNull();
  });
});

/** Facts that end with one which the database refuses. */
const CONTRADICTIONS: [string, (one: AcceptRecord) => string[]][] = [
  ['a beginning of what was never accepted', () => [begun(fresh())]],
  ['a beginning under another fence', (one) => [begun(one, { ...lease, fence: lease.fence + 1 })]],
  ['an end of what never began', (one) => [settled(one)]],
  ['an end that was written before', (one) => [begun(one), settled(one), settled(one)]],
];

test.each(CONTRADICTIONS)(
  'what contradicts the database is a failure that ends all writing: %s',
  async (_, facts) => {
    const one = fresh();
    await apply([], null, START);
    await apply([accepted(one)], START, place(10));
    const other = fresh();
    const contradiction = apply([accepted(other), ...facts(one)], place(10), place(20));
    await expect(contradiction).rejects.toMatchObject({ code: 'store_failed' });
    expect(await stores.views.message(other.id)).toBeNull();
    expect((await read(stores.views, one.id)).message.status).toBe('processing');
    await expect(apply([accepted(other)], place(10), place(20))).rejects.toMatchObject({
      code: 'store_failed',
    });
  },
);

describe('what a dead process left', () => {
  test.each(CONTRADICTIONS)('is written without what contradicts the database: %s', async (_, facts) => {
    const one = fresh();
    await apply([], null, START);
    await apply([accepted(one)], START, place(10));
    const other = fresh();
    const given = facts(one);
    const last = factOf(given.at(-1) ?? '');
    const left = await stores.applying.applyLeft(
      [...given, accepted(other), begun(other), settled(other)],
      place(10),
      place(20),
    );
    expect(left.map(({ verb }) => verb)).toEqual([last.verb]);
    expect(await stores.applying.logMark()).toEqual(place(20));
    expect((await read(stores.views, other.id)).message).toMatchObject({
      status: 'delivered',
      possibleDuplicate: false,
    });
  });

  test('tells of what was begun under another fence, and its message may arrive twice', async () => {
    const one = fresh();
    await apply([], null, START);
    await apply([accepted(one)], START, place(10));
    const stranger = { ...lease, fence: lease.fence + 1 };
    const left = await stores.applying.applyLeft(
      [begun(one, stranger), settled(one, stranger)],
      place(10),
      place(20),
    );
    const unit = refTo(one.id, stranger);
    expect(left).toEqual([
      { verb: 'begin', unit },
      { verb: 'settle', unit },
    ]);
    expect((await read(stores.views, one.id)).message).toMatchObject({
      status: 'processing',
      possibleDuplicate: true,
    });
    expect((await stores.views.figures(T0)).possibleDuplicates).toBe(1);
  });

  test('leaves a message that is final what it is, but for the mark', async () => {
    const one = fresh();
    await apply([], null, START);
    await apply([accepted(one), begun(one), settled(one)], START, place(10));
    const before = (await read(stores.views, one.id)).message;
    await stores.applying.applyLeft([settled(one)], place(10), place(20));
    expect((await read(stores.views, one.id)).message).toEqual({ ...before, possibleDuplicate: true });
  });

  test('is refused where nothing has ended, too', async () => {
    await apply([], null, START);
    const early = stores.applying.applyLeft([], place(10), place(20));
    await expect(early).rejects.toMatchObject({ code: 'store_busy' });
  });
});
