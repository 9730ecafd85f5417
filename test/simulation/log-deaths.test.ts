/**
 * The same verbs are asked of a store behind the log, which dies again and again, and of a plain one, which never does.
 * Every answer is the same, and so is the database after each start.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LaneLease } from '../../src/domain/lane.ts';
import { type Random, seededRandom } from '../../src/lib/random.ts';
import type { AcceptRecord, QueueLimits } from '../../src/store/accepting.ts';
import { factOf } from '../../src/store/applying.ts';
import type { UnitRef } from '../../src/store/leased.ts';
import { LoggedStore } from '../../src/store/logged/logged-store.ts';
import { replay } from '../../src/store/logged/replay.ts';
import { openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { openSqlite, type SqliteStores } from '../../src/store/sqlite/open.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import {
  CAPTURED,
  DEFERRED,
  DELIVERED,
  HOUR,
  message,
  POLICY,
  REJECTED,
  recipient,
  settlement,
  T0,
} from '../contract/store/fixtures.ts';
import { before, tell, times } from '../support/proof.ts';
import { type Disk, MemoryLog } from './memory-log.ts';

const HISTORIES = times('log_deaths', 4);
/** Lives in a history, and verbs in a life at the most. */
const LIVES = 6;
const VERBS = 60;
const LANES = ['out', 'other'];
const LIMITS: readonly (QueueLimits | undefined)[] = [
  undefined,
  { maxBytes: 1_000_000, maxMessagesPerKey: 1_000 },
  { maxBytes: 12_000, maxMessagesPerKey: 6 },
];

/** A verb with its arguments, asked of either store, and what the answer teaches. */
interface Verb<T = unknown> {
  ask(store: Store): Promise<T>;
  learn?(answer: T): void;
}

/** Lets verbs of all kinds be asked alike. */
function verb<T>(ask: (store: Store) => Promise<T>, learn: (answer: T) => void = () => {}): Verb {
  // Each is only ever given what it was answered.
  return { ask, learn: (answer) => learn(answer as T) };
}

/** Work that is leased, as far as who asks knows; some of it may not be any more. */
interface Work {
  readonly unit: UnitRef;
  begunAt: number | null;
}

class History {
  readonly #dice: Random;
  readonly #disk: Disk = { flushes: [], isFull: false };
  readonly #files: readonly [string, string];
  readonly #plain: SqliteStores;
  readonly #leases = new Map<string, LaneLease>();
  readonly #work: Work[] = [];
  readonly #ids: string[] = [];
  #now = T0;
  /** Hardly anything is asked but to accept mail, to try it and to say what came of that. */
  #isCalm = false;
  deaths = 0;
  replayed = 0;

  constructor(seed: number, folder: string) {
    this.#files = [join(folder, 'logged.db'), join(folder, 'plain.db')];
    this.#dice = seededRandom(seed);
    this.#plain = openSqlite(this.#files[1]);
  }

  async play(): Promise<void> {
    for (let life = 0; life < LIVES; life++) await this.#live();
    await this.#plain.store.close();
  }

  async #live(): Promise<void> {
    const inner = openSqlite(this.#files[0]);
    const log = new MemoryLog(this.#disk);
    this.replayed += await replay(log, inner.applying);
    this.#expectSame();
    const logged = new LoggedStore({
      ...inner,
      log,
      spool: { append: async () => [], decided() {} },
      clock: { sleep: () => new Promise(() => {}) },
      behind: { facts: this.#below(3) === 0 ? 1 : this.#below(60), ms: Number.POSITIVE_INFINITY },
    });
    const store = logged.asStore();
    this.#isCalm = this.#below(2) === 0;
    const seized = { seize: true, policy: POLICY, dice: 0.5, limit: 1_000 };
    await this.#both(
      store,
      verb((one) => one.reclaim(seized, this.#at())),
    );
    this.#leases.clear();
    this.#work.length = 0;
    await this.#both(store, this.#acquire(LANES, HOUR));
    for (let left = this.#below(VERBS); left > 0; left--) {
      this.#now += this.#below(2_000);
      this.#disk.isFull = this.#below(20) === 0;
      if (this.#disk.isFull) await this.#withoutRoom(store);
      else await this.#both(store, this.#verb());
      if (this.#below(25) === 0) {
        await logged.written();
        this.#expectSame();
      }
    }
    await this.#die(store, log);
    await inner.store.close();
  }

  /** Asks for some more, and loses power before the answers come. What the disk has of it counts. */
  async #die(store: Store, log: MemoryLog): Promise<void> {
    const written = this.#disk.flushes.flat().length;
    const asked = Array.from({ length: this.#below(4) }, () => this.#fresh('by the log'));
    for (const { ask } of asked) void ask(store).catch(() => {});
    for (let turns = this.#below(8); turns > 0; turns--) await Promise.resolve();
    log.isCut = true;
    this.deaths++;
    for (const text of this.#disk.flushes.flat().slice(written)) {
      const fact = factOf(text);
      if (fact.verb === 'accept')
        await this.#plain.store.accept(
          fact.batch.map(({ record }) => record),
          fact.at,
        );
    }
  }

  /** A full disk refuses what goes into the log, and nothing of it happens. The database has room. */
  async #withoutRoom(store: Store): Promise<void> {
    const { ask, learn } = this.#fresh();
    const answer = await ask(store).catch((error: unknown) => error);
    this.#disk.isFull = false;
    if (answer instanceof StoreError) return expect(answer.code).toBe('store_full');
    expect(answer).toEqual(await ask(this.#plain.store));
    learn?.(answer);
  }

  /** Asks both the same, and expects the same. */
  async #both(store: Store, { ask, learn }: Verb): Promise<void> {
    const answer = await ask(store);
    expect(answer).toEqual(await ask(this.#plain.store));
    learn?.(answer);
  }

  #verb(): Verb {
    const at = this.#at();
    switch (this.#isCalm && this.#below(30) > 0 ? 8 + this.#below(6) : this.#below(14)) {
      case 0:
        return this.#acquire(
          LANES.filter(() => this.#below(2) === 0),
          this.#below(3) === 0 ? 3_000 : HOUR,
        );
      case 1: {
        const held = [...this.#leases.values()];
        return verb((store) => store.renewLanes(held, this.#now + HOUR, at));
      }
      case 2: {
        const given = this.#below(4) === 0 ? [...this.#leases.values()].slice(0, 1) : [];
        return verb((store) => store.releaseLanes(given, at));
      }
      case 3:
        return verb((store) => store.reclaim({ seize: false, policy: POLICY, dice: 0.5, limit: 1_000 }, at));
      case 4: {
        const ids = this.#some(this.#ids, 2);
        return verb((store) => store.cancel(ids, at));
      }
      case 5: {
        const requests = this.#some(this.#ids, 2).map((id) => ({ id, expiresAt: this.#now + HOUR }));
        return verb((store) => store.requeue(requests, at));
      }
      case 6: {
        const units = this.#some(this.#work, 2).map(({ unit }) => ({ ...unit, refund: null }));
        return verb((store) => store.release(units, at));
      }
      case 7: {
        const requests = [...this.#leases.values()].map((lease) => {
          return { ...lease, order: 'high_first', limit: 3, maxRecipients: 2 } as const;
        });
        return verb(
          (store) => store.claim(requests, at),
          (answers) => {
            for (const { units } of answers)
              for (const { messageId, lane, fence, deliveries } of units)
                this.#work.push({
                  unit: { messageId, lane, fence, indexes: deliveries.map(({ index }) => index) },
                  begunAt: null,
                });
          },
        );
      }
      case 8:
      case 9:
        return this.#begin();
      case 10:
      case 11:
        return this.#settle();
      default:
        return this.#fresh(this.#isCalm ? 'by the log' : 'any');
    }
  }

  #acquire(wanted: readonly string[], ms: number): Verb {
    const at = this.#at();
    return verb(
      (store) => store.acquireLanes(wanted, 2, at.now + ms, at),
      (leases) => {
        for (const lease of leases) this.#leases.set(lease.lane, lease);
      },
    );
  }

  #begin(): Verb {
    const at = this.#at();
    const works = this.#some(
      this.#likely((work) => work.begunAt === null),
      2,
    );
    const units = works.map(({ unit }) => ({ ...unit, recipients: [], quota: null }));
    return verb(
      (store) => store.begin(units, at),
      (answers) => {
        for (const [place, answer] of answers.entries()) {
          const work = works[place];
          if (work !== undefined && answer === 'begun') work.begunAt = at.now;
        }
      },
    );
  }

  #settle(): Verb {
    const at = this.#at();
    const outcomes = [DELIVERED, DELIVERED, CAPTURED, DEFERRED, REJECTED];
    const works = this.#some(
      this.#likely((work) => work.begunAt !== null),
      2,
    );
    const batch = works.map(({ unit, begunAt }) => {
      const results = unit.indexes.map(() => outcomes[this.#below(outcomes.length)] ?? DELIVERED);
      return settlement(unit, results, { ...at, now: begunAt ?? at.now });
    });
    const done = new Set(works);
    if (this.#isCalm)
      this.#work.splice(0, this.#work.length, ...this.#work.filter((work) => !done.has(work)));
    return verb((store) => store.settle(batch, at));
  }

  /** Work that is likely to be where it must be; in a calm life, all of it is. */
  #likely(isThere: (work: Work) => boolean): Work[] {
    return this.#isCalm ? this.#work.filter(isThere) : this.#work;
  }

  /** Accepts some mail, most of it the short way. */
  #fresh(way: 'any' | 'by the log' = 'any'): Verb {
    const at = this.#at();
    const limits = way === 'any' ? LIMITS[this.#below(LIMITS.length)] : undefined;
    const records = Array.from({ length: 1 + this.#below(3) }, () => this.#record(way));
    return verb(
      (store) => store.accept(records, at, limits),
      (answers) => {
        for (const [place, answer] of answers.entries()) {
          const record = records[place];
          if (record === undefined || answer.kind !== 'accepted') continue;
          this.#ids.push(record.id);
          this.#work.push(...workOf(record, answer.leased));
        }
      },
    );
  }

  #record(way: 'any' | 'by the log'): AcceptRecord {
    const deliveries = Array.from({ length: 1 + this.#below(this.#isCalm ? 2 : 3) }, () => {
      const lane = LANES[this.#isCalm ? 0 : this.#below(2)] ?? 'out';
      const fence = this.#below(5) === 0 ? null : (this.#leases.get(lane)?.fence ?? null);
      const dueAt = this.#now + (this.#below(6) === 0 ? 5_000 : 0);
      return recipient({ lane, relay: lane, group: [lane], fence, dueAt });
    });
    const isTied = way === 'any' && this.#below(8) === 0;
    const idempotency = isTied ? { key: `k${this.#below(4)}`, hash: `h${this.#below(2)}` } : null;
    const keyId = [null, 'key_one', 'key_two'][this.#below(3)] ?? null;
    return message({ keyId, deliveries, idempotency, expiresAt: this.#now + 48 * HOUR });
  }

  #expectSame(): void {
    expect(dump(this.#files[0])).toEqual(dump(this.#files[1]));
  }

  #at() {
    return { node: 'a', now: this.#now };
  }

  #some<T>(items: readonly T[], most: number): T[] {
    if (items.length === 0) return [];
    const recent = items.slice(-12);
    return Array.from({ length: 1 + this.#below(most) }, () => recent[this.#below(recent.length)]).filter(
      (item) => item !== undefined,
    );
  }

  #below(count: number): number {
    return Math.floor(this.#dice.next() * count);
  }
}

function workOf({ id, deliveries }: AcceptRecord, leased: readonly boolean[]): Work[] {
  const lanes = new Map<string, { fence: number; indexes: number[] }>();
  for (const [index, { lane, fence }] of deliveries.entries()) {
    if (leased[index] !== true || lane === null || fence === null) continue;
    const known = lanes.get(lane) ?? { fence, indexes: [] };
    known.indexes.push(index);
    lanes.set(lane, known);
  }
  return [...lanes].map(([lane, { fence, indexes }]) => {
    return { unit: { messageId: id, lane, fence, indexes }, begunAt: null };
  });
}

/** Every row of a database, but for how far the log is applied, and sums that have come to nothing. */
function dump(path: string): Record<string, unknown[]> {
  const db = openBetterSqlite3(path);
  try {
    const tables = db
      .prepare<[], [string]>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search%'`,
      )
      .all()
      .map(([name]) => name)
      .filter((name) => name !== 'log_mark');
    return Object.fromEntries(
      tables.map((table) => {
        const rows = db.prepare<[], (string | number | null)[]>(
          SELECTION[table] ?? `SELECT * FROM "${table}"`,
        );
        const texts = rows
          .all()
          .filter((row) => !isNothing(table, row))
          .map((row) => JSON.stringify(row));
        return [table, table === 'events' ? texts : texts.toSorted()];
      }),
    );
  } finally {
    db.close();
  }
}

/** The log writes finished messages together: the events of each are in their order, but not those of all. */
const SELECTION: Readonly<Record<string, string>> = {
  events: 'SELECT message, type, at, idx, attempt, facts FROM events ORDER BY message, seq',
};

function isNothing(table: string, row: readonly (string | number | null)[]): boolean {
  return (table === 'gauges' || table === 'key_queues') && row[1] === 0;
}

test('what the log answers, and what it leaves after a death, is what a plain store has', {
  timeout: 180_000 + HISTORIES * 10_000,
}, async () => {
  let deaths = 0;
  let replayed = 0;
  for (let nth = 0; nth < HISTORIES; nth++) {
    const seed = before() + nth + 1;
    const folder = mkdtempSync(join(tmpdir(), 'waybill-deaths-'));
    const history = new History(seed, folder);
    try {
      await history.play();
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    } finally {
      rmSync(folder, { recursive: true });
    }
    deaths += history.deaths;
    replayed += history.replayed;
  }
  tell('deaths of a log', { histories: HISTORIES, deaths, 'facts replayed': replayed });
});
