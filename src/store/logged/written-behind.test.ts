import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { LogPlace } from '../../domain/log-place.ts';
import type { Applying, QueueUse } from '../applying.ts';
import { StoreError, type StoreErrorCode } from '../store.ts';
import { SureRoom } from './room.ts';
import { type BehindTerms, WrittenBehind } from './written-behind.ts';

const NOTHING: QueueUse = { bytes: 0, messages: [] };
const NEVER: BehindTerms = { facts: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY };

/** A call that the database has been asked for. */
interface Call {
  readonly facts: readonly string[];
  readonly from: number | undefined;
  readonly end: number;
  readonly keyIds: readonly string[];
  answer(use?: QueueUse): Promise<void>;
  fail(code?: StoreErrorCode): Promise<void>;
}

/** A database that answers when the test says so. */
class Database implements Pick<Applying, 'apply'> {
  readonly calls: Call[] = [];
  #told = 0;

  apply(
    facts: readonly string[],
    from: LogPlace | null,
    end: LogPlace,
    keyIds: readonly string[],
  ): Promise<QueueUse> {
    const { promise, resolve, reject } = Promise.withResolvers<QueueUse>();
    const heard = async () => {
      await promise.catch(() => {});
      // The one who asked goes on in the turns of the promises that follow.
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    };
    this.calls.push({
      facts,
      from: from?.offset,
      end: end.offset,
      keyIds,
      answer: async (use = NOTHING) => {
        resolve(use);
        await heard();
      },
      fail: async (code = 'store_full') => {
        reject(new StoreError(code, 'simulated'));
        await heard();
      },
    });
    return promise;
  }

  /** What it was asked for since the last news. */
  news(): Pick<Call, 'facts' | 'from' | 'end'>[] {
    const news = this.calls.slice(this.#told);
    this.#told = this.calls.length;
    return news.map(({ facts, from, end }) => ({ facts, from, end }));
  }

  call(nth: number): Call {
    const call = this.calls.at(nth);
    if (call === undefined) throw new Error('the database was not asked');
    return call;
  }
}

let clock: ManualClock;
let database: Database;
let room: SureRoom;
let applied: number[];
let end: number;

beforeEach(() => {
  clock = new ManualClock();
  database = new Database();
  room = new SureRoom();
  applied = [];
  end = 100;
});

function behindWith(terms: BehindTerms = NEVER): WrittenBehind {
  const deps = { applying: database, clock, room, applied: ({ offset }: LogPlace) => applied.push(offset) };
  return new WrittenBehind(deps, place(end), terms);
}

function place(offset: number): LogPlace {
  return { segment: 1, offset };
}

/** Facts of one flush, which take ten bytes of the log. */
function flush(behind: WrittenBehind, ...facts: string[]): void {
  end += 10;
  behind.logged(facts, place(end));
}

describe('what is in the log is written into the database', () => {
  test('once, though what was asked before it has failed', async () => {
    const behind = behindWith();
    behind.ask();
    flush(behind, 'a');
    void behind.write();
    await database.call(0).fail();
    flush(behind, 'b');
    void behind.write().catch(() => {});
    // The first answer comes before what was sent again, which is refused: its place is an earlier one.
    await database.call(1).answer();
    await database.call(2).fail('store_busy');
    expect(applied).toEqual([110]);
    void behind.write();
    expect(database.news().at(-1)).toEqual({ facts: ['b'], from: 110, end: 120 });
    await database.call(3).answer();
    expect(applied).toEqual([110, 120]);
  });

  test('in its order, all that there is at once, each part from where the one before ended', async () => {
    const behind = behindWith();
    flush(behind, 'a', 'b');
    flush(behind, 'c');
    expect(database.news()).toEqual([]);
    void behind.write();
    flush(behind, 'd');
    void behind.write();
    expect(database.news()).toEqual([
      { facts: ['a', 'b', 'c'], from: 100, end: 120 },
      { facts: ['d'], from: 120, end: 130 },
    ]);
    await database.call(0).answer();
    await database.call(1).answer();
    expect(applied).toEqual([120, 130]);
  });

  test('once, however often it is asked for; who asks waits for all of it', async () => {
    const behind = behindWith();
    flush(behind, 'a');
    const first = behind.write();
    flush(behind, 'b');
    let isWritten = false;
    const both = Promise.all([behind.write(), behind.write()]).then(() => {
      isWritten = true;
    });
    expect(database.calls).toHaveLength(2);
    await database.call(0).answer();
    await first;
    expect(isWritten).toBe(false);
    await database.call(1).answer();
    await both;
    await behind.write();
    expect(database.calls).toHaveLength(2);
  });

  test('after a while without anybody asking', async () => {
    const behind = behindWith({ facts: 10, ms: 150 });
    flush(behind, 'a');
    await clock.advance(100);
    flush(behind, 'b');
    await clock.advance(49);
    expect(database.news()).toEqual([]);
    await clock.advance(1);
    expect(database.news()).toEqual([{ facts: ['a', 'b'], from: 100, end: 120 }]);
    await database.call(0).answer();
    await clock.advance(1_000);
    expect(database.news()).toEqual([]);
    flush(behind, 'c');
    await clock.advance(150);
    expect(database.news()).toEqual([{ facts: ['c'], from: 120, end: 130 }]);
  });

  test('when much has gathered, one part after the other', async () => {
    const behind = behindWith({ facts: 3, ms: Number.POSITIVE_INFINITY });
    flush(behind, 'a', 'b');
    expect(database.news()).toEqual([]);
    flush(behind, 'c', 'd');
    expect(database.news()).toEqual([{ facts: ['a', 'b', 'c', 'd'], from: 100, end: 120 }]);
    flush(behind, 'e', 'f', 'g');
    flush(behind, 'h');
    expect(database.news()).toEqual([]);
    await database.call(0).answer();
    expect(database.news()).toEqual([{ facts: ['e', 'f', 'g', 'h'], from: 120, end: 140 }]);
    await database.call(1).answer();
    flush(behind, 'i');
    expect(database.news()).toEqual([]);
  });

  test('when it has many characters', async () => {
    const behind = behindWith({ ...NEVER });
    const long = 'x'.repeat(1024 * 1024);
    flush(behind, long);
    expect([database.calls.length, behind.characters]).toEqual([0, 1024 * 1024]);
    flush(behind, long, 'y');
    expect([database.calls.length, behind.characters]).toEqual([1, 2 * 1024 * 1024 + 1]);
    flush(behind, 'z');
    await database.call(0).answer();
    expect(behind.characters).toBe(1);
  });

  test('before it is closed, and then no more', async () => {
    const behind = behindWith({ facts: 10, ms: 150 });
    flush(behind, 'a');
    const closed = behind.close();
    expect(database.news()).toEqual([{ facts: ['a'], from: 100, end: 110 }]);
    await database.call(0).answer();
    await closed;
    await clock.advance(1_000);
    expect(database.calls).toHaveLength(1);
  });
});

describe('what could not be written', () => {
  test('is sent again whole, from where the last that succeeded ended', async () => {
    const behind = behindWith();
    flush(behind, 'a');
    void behind.write();
    await database.call(0).answer();
    flush(behind, 'b');
    flush(behind, 'c');
    const failed = behind.write();
    await database.call(1).fail();
    await expect(failed).rejects.toMatchObject({ code: 'store_full' });
    expect(applied).toEqual([110]);
    flush(behind, 'd');
    database.news();
    const written = behind.write();
    expect(database.news()).toEqual([{ facts: ['b', 'c', 'd'], from: 110, end: 140 }]);
    await database.call(-1).answer();
    await written;
    expect([behind.characters, applied]).toEqual([0, [110, 140]]);
    await behind.write();
    expect(database.news()).toEqual([]);
  });

  test('is sent again with what was sent behind it, once', async () => {
    const behind = behindWith();
    const parts = ['a', 'b', 'c'].map((fact) => {
      flush(behind, fact);
      return behind.write();
    });
    const outcomes = Promise.allSettled(parts);
    await database.call(0).answer();
    await database.call(1).fail();
    database.news();
    const again = behind.write();
    expect(database.news()).toEqual([{ facts: ['b', 'c'], from: 110, end: 130 }]);
    // The database refuses what came before it was sent again: it begins where nothing has ended.
    await database.call(2).fail('store_busy');
    expect(database.news()).toEqual([]);
    await database.call(3).answer();
    await again;
    const full = { status: 'rejected', reason: { code: 'store_full' } };
    expect(await outcomes, 'all are told what failed').toMatchObject([{ status: 'fulfilled' }, full, full]);
    expect(applied).toEqual([110, 130]);
    await behind.write();
    expect(database.news()).toEqual([]);
    flush(behind, 'd');
    void behind.write();
    expect(database.news()).toEqual([{ facts: ['d'], from: 130, end: 140 }]);
  });

  test('does not hide that what was sent behind it failed for good', async () => {
    const behind = behindWith();
    flush(behind, 'a');
    void behind.write().catch(() => {});
    flush(behind, 'b');
    const next = behind.write();
    await database.call(0).fail();
    await database.call(1).fail('store_failed');
    await expect(next).rejects.toMatchObject({ code: 'store_failed' });
  });

  test('is sent again after a second without anybody asking', async () => {
    const behind = behindWith();
    flush(behind, 'a');
    void behind.write().catch(() => {});
    await database.call(0).fail();
    await clock.advance(999);
    expect(database.calls).toHaveLength(1);
    await clock.advance(1);
    expect(database.calls).toHaveLength(2);
    await database.call(1).fail();
    await clock.advance(1_000);
    await database.call(2).answer();
    expect(applied).toEqual([110]);
    await clock.advance(1_000);
    await behind.write();
    expect(database.calls).toHaveLength(3);
  });

  test('is sent again though it was but a question, once', async () => {
    const behind = behindWith();
    behind.ask();
    await database.call(0).fail();
    database.news();
    const again = behind.write();
    expect(database.news()).toEqual([{ facts: [], from: 100, end: 100 }]);
    await database.call(1).answer();
    await again;
    await behind.write();
    expect(database.calls).toHaveLength(2);
  });

  test('keeps who asks from being answered while it is under way', async () => {
    const behind = behindWith();
    flush(behind, 'a');
    void behind.write().catch(() => {});
    const asked = behind.write();
    await database.call(0).fail();
    await expect(asked).rejects.toMatchObject({ code: 'store_full' });
  });

  test('is written before it is closed', async () => {
    const behind = behindWith();
    flush(behind, 'a');
    void behind.write().catch(() => {});
    await database.call(0).fail();
    const closed = behind.close();
    await database.call(1).answer();
    await closed;
    expect(applied).toEqual([110]);
  });
});

test('who closes and cannot write what is left is told, and it is not tried again', async () => {
  const behind = behindWith({ facts: 10, ms: 150 });
  flush(behind, 'a');
  const closed = behind.close();
  await database.call(0).fail();
  await expect(closed).rejects.toMatchObject({ code: 'store_full' });
  await clock.advance(10_000);
  expect(database.calls).toHaveLength(1);
});

describe('how much of the queue is used', () => {
  const LIMITS = { maxBytes: 10, maxMessagesPerKey: 1 };

  function isRoomFor(sizeBytes: number, keyId: string | null = null): boolean {
    return room.isSure([{ keyId, sizeBytes, idempotency: null }], LIMITS);
  }

  test('is heard with whatever is written, of keys too that somebody has missed', async () => {
    const behind = behindWith();
    expect([isRoomFor(1), isRoomFor(0, 'a')]).toEqual([false, false]);
    flush(behind, 'a');
    void behind.write();
    await database.call(0).answer({ bytes: 4, messages: [] });
    expect([isRoomFor(6), isRoomFor(7), isRoomFor(1, 'a')]).toEqual([true, false, false]);
    flush(behind, 'b');
    void behind.write();
    expect(database.call(1).keyIds).toEqual(['a']);
    await database.call(1).answer({ bytes: 4, messages: [['a', 0]] });
    expect(isRoomFor(1, 'a')).toBe(true);
  });

  test('can be asked for though nothing is to be written', async () => {
    const behind = behindWith();
    const came = [{ keyId: 'a', sizeBytes: 0, idempotency: null }];
    room.enter(came);
    room.entered(came);
    behind.ask();
    expect(database.news()).toEqual([{ facts: [], from: 100, end: 100 }]);
    expect(database.call(0).keyIds).toEqual(['a']);
    await database.call(0).answer({ bytes: 9, messages: [['a', 0]] });
    expect([isRoomFor(1, 'a'), isRoomFor(2)]).toEqual([true, false]);
  });

  test('is not learnt from an answer that a failure has overtaken', async () => {
    const behind = behindWith();
    flush(behind, 'a');
    void behind.write().catch(() => {});
    behind.ask();
    await database.call(0).fail();
    await database.call(1).fail('store_busy');
    expect(isRoomFor(1)).toBe(false);
  });
});
