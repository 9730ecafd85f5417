import { describe, expect, test } from 'vitest';
import { tell } from '../support/proof.ts';
import type { History } from './history.ts';
import { KINDS } from './seen.ts';
import { play } from './world.ts';

/** So many histories hold every kind of trouble: fewer may miss one. */
const ENOUGH = 40;
const TIMEOUT_MS = 600_000;

/** Plays each of these seeds as a test, and tells what they came to. A failing one says by which command it is played again. */
export function playAll(seeds: readonly number[]): void {
  const histories: History[] = [];

  describe('histories of several engines over one store', () => {
    test.each(seeds)('seed %i keeps every promise', { timeout: TIMEOUT_MS }, async (seed) => {
      try {
        const history = await play(seed);
        expect(history.acknowledged).toBeGreaterThan(0);
        expect(history.taken).toBeGreaterThan(0);
        histories.push(history);
      } catch (error) {
        throw new Error(`replay: WAYBILL_SEEDS=${seed}-${seed} npx vitest run test/simulation/simulation`, {
          cause: error,
        });
      }
    });

    test('all of them hold, and where they are many, every kind of trouble is in them', () => {
      expect(histories).toHaveLength(seeds.length);
      const seen = sumOf(histories);
      const missed = KINDS.filter((kind) => seen[kind] === 0);
      if (seeds.length >= ENOUGH) expect(missed).toEqual([]);
      tell('simulated histories', { seeds: histories.length, ...seen });
    });
  });
}

/** What histories hold together. */
export function sumOf(histories: readonly History[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { hash: _hash, seen, virtualMinutes, taken, ...rest } of histories) {
    const counts = { 'virtual minutes': virtualMinutes, 'recipients that have it': taken, ...rest, ...seen };
    for (const [what, count] of Object.entries(counts)) sums[what] = (sums[what] ?? 0) + count;
  }
  return sums;
}
