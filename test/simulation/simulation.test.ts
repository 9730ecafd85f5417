import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { seedsOr } from './seeds.ts';
import { play } from './world.ts';

/** Seeds that once broke an invariant, then the range of this run. */
function seeds(): number[] {
  const past = readFileSync(new URL('seeds.txt', import.meta.url), 'utf8');
  const kept = past.split('\n').flatMap((line) => (/^\d+/.test(line) ? [Number.parseInt(line, 10)] : []));
  return [...new Set([...kept, ...seedsOr('1-48')])];
}

describe('histories of several engines over one store', () => {
  test.each(seeds())('seed %i keeps every promise', { timeout: 120_000 }, async (seed) => {
    try {
      const history = await play(seed);
      expect(history.acknowledged).toBeGreaterThan(0);
      expect(history.taken).toBeGreaterThan(0);
    } catch (error) {
      throw new Error(`replay: WAYBILL_SEEDS=${seed}-${seed} npx vitest run test/simulation`, {
        cause: error,
      });
    }
  });

  test('the same seed gives the same history', async () => {
    const [first, second, other] = [await play(7), await play(7), await play(8)];
    expect(second).toEqual(first);
    expect(other.hash).not.toBe(first.hash);
  });
});
