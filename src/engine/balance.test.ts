import { expect, test } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { burdenOf } from './balance.ts';

test('a node alone may have all, and one with a little more than its part keeps it', () => {
  expect(burdenOf(40, []).surplus).toBe(0);
  expect(burdenOf(5, [4, 3]).surplus).toBe(0);
  expect(burdenOf(45, [40, 40]).surplus).toBe(0);
});

test('one with too much leaves some of it, in steps that have bounds', () => {
  expect(burdenOf(6, [0])).toEqual({ most: 4, surplus: 3 });
  expect(burdenOf(40, [0]).surplus).toBe(8);
  expect(burdenOf(2_000, [0]).surplus).toBe(125);
  expect(burdenOf(20_000, [0]).surplus).toBe(256);
});

test('nodes have room for all lanes together, come to rest, and are about even then', () => {
  const dice = seededRandom(1);
  for (let turn = 0; turn < 200; turn++) {
    const counts = Array.from({ length: 2 + Math.floor(dice.next() * 5) }, () =>
      Math.floor(dice.next() * 500),
    );
    const others = (place: number) => counts.filter((_, other) => other !== place);
    const most = counts.map((count, place) => burdenOf(count, others(place)).most);
    const all = counts.reduce((sum, count) => sum + count);
    expect(most.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(all);
    let steps = 0;
    for (let moved = true; moved; steps++) {
      moved = false;
      for (const [place, count] of counts.entries()) {
        const { surplus } = burdenOf(count, others(place));
        for (let lane = 0; lane < surplus; lane++) {
          // Whoever finds it first has it, if there is room.
          const taker = counts.findIndex(
            (has, other) => other !== place && has < burdenOf(has, others(other)).most,
          );
          if (taker < 0) break;
          counts[place] = (counts[place] ?? 0) - 1;
          counts[taker] = (counts[taker] ?? 0) + 1;
          moved = true;
        }
      }
      expect(steps).toBeLessThan(200);
    }
    const fair = Math.ceil(all / counts.length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(fair + Math.max(1, Math.ceil(fair / 8)));
  }
});
