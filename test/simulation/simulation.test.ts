/** The seeds that every change must pass, with those that failed in the past; or those asked for. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { playAll } from './histories.ts';
import { seedsOr } from './seeds.ts';
import { play } from './world.ts';

/** Trouble for ten minutes is enough to tell two histories apart. */
const SHORT_MS = 10 * 60_000;

/** Seeds that once broke an invariant. */
function past(): number[] {
  const text = readFileSync(new URL('seeds.txt', import.meta.url), 'utf8');
  return text.split('\n').flatMap((line) => (/^\d+/.test(line) ? [Number.parseInt(line, 10)] : []));
}

playAll([...new Set([...(process.env['WAYBILL_SEEDS'] === undefined ? past() : []), ...seedsOr('1-1')])]);

test.runIf(process.env['WAYBILL_SEEDS'] === undefined)('the same seed gives the same history', async () => {
  const short = (seed: number) => play(seed, undefined, SHORT_MS);
  const [first, second, other] = [await short(7), await short(7), await short(8)];
  expect(second).toEqual(first);
  expect(other.hash).not.toBe(first.hash);
});
