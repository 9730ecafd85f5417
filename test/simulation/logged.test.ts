/** Histories whose nodes work over a store behind the log, as one process does over its data directory. */
import { expect, test } from 'vitest';
import { LoggedStore } from '../../src/store/logged/logged-store.ts';
import { replay } from '../../src/store/logged/replay.ts';
import { type BehindTerms, viewsBehind } from '../../src/store/logged/written-behind.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { tell } from '../support/proof.ts';
import { sumOf } from './histories.ts';
import type { History } from './history.ts';
import { MemoryLog } from './memory-log.ts';
import { seedsOr } from './seeds.ts';
import { play } from './world.ts';

/** Every flush at once, now and then, and never unless somebody asks. */
const TERMS: readonly BehindTerms[] = [
  { facts: 1, ms: Number.POSITIVE_INFINITY },
  { facts: 40, ms: Number.POSITIVE_INFINITY },
  { facts: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY },
];

const histories: History[] = [];

test.each(seedsOr('1-2'))(
  'seed %i keeps every promise behind the log',
  { timeout: 600_000 },
  async (seed) => {
    const inner = openSqlite(':memory:');
    const log = new MemoryLog({ flushes: [], isFull: false });
    await replay(log, inner.applying);
    const behind = TERMS[seed % TERMS.length] ?? {};
    const spool = { append: async () => [], decided() {} };
    const logged = new LoggedStore({
      ...inner,
      log,
      spool,
      clock: { sleep: () => new Promise(() => {}) },
      behind,
    });
    const views = viewsBehind(() => logged.written(), inner.views);
    const suppressions = logged.listOver(inner.suppressions);
    const holdPseudonymKey = async (key: Uint8Array) => {
      logged.holdPseudonymKey(key);
      await inner.holdPseudonymKey(key);
    };
    const { erasures } = inner;
    const stores = { store: logged.asStore(), views, suppressions, erasures, holdPseudonymKey };
    const history = await play(seed, stores);
    expect(history.taken).toBeGreaterThan(0);
    histories.push(history);
  },
);

test('all of them are told', () => {
  tell('simulated histories behind the log', { seeds: histories.length, ...sumOf(histories) });
});
