/** The first half of the seeds that every change must pass, with those that failed in the past; or those asked for. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { playAll } from './histories.ts';
import { seedsOr } from './seeds.ts';
import { play } from './world.ts';

/** Seeds that once broke an invariant. */
function past(): number[] {
  const text = readFileSync(new URL('seeds.txt', import.meta.url), 'utf8');
  return text.split('\n').flatMap((line) => (/^\d+/.test(line) ? [Number.parseInt(line, 10)] : []));
}

playAll([...new Set([...(process.env['WAYBILL_SEEDS'] === undefined ? past() : []), ...seedsOr('1-50')])]);

test.runIf(process.env['WAYBILL_SEEDS'] === undefined)('the same seed gives the same history', async () => {
  const [first, second, other] = [await play(7), await play(7), await play(8)];
  expect(second).toEqual(first);
  expect(other.hash).not.toBe(first.hash);
});
