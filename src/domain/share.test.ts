import { expect, test } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { NOTHING, shareOf, WHOLE } from './share.ts';

test('the only node has all of a limit, and one that may not have any has none', () => {
  for (const limit of [0, 1, 7, 1_000]) {
    expect(shareOf(limit, WHOLE)).toBe(limit);
    expect(shareOf(limit, NOTHING)).toBe(0);
  }
});

test('parts are equal, but for one more to the first, and come to the limit', () => {
  for (let of = 1; of < 12; of++)
    for (let limit = 0; limit < 40; limit++) {
      const parts = Array.from({ length: of }, (_, rank) => shareOf(limit, { rank, of }));
      expect(parts.reduce((sum, part) => sum + part)).toBe(limit);
      expect(parts.toSorted((a, b) => b - a)).toEqual(parts);
      expect((parts[0] ?? 0) - (parts.at(-1) ?? 0)).toBeLessThanOrEqual(1);
    }
});

test('nodes that know of different others never exceed a limit together, as long as each knows all that send', () => {
  const dice = seededRandom(1);
  const draw = (most: number) => Math.floor(dice.next() * most);
  for (let turn = 0; turn < 5_000; turn++) {
    const senders = new Set(Array.from({ length: 1 + draw(6) }, () => draw(12)));
    const limit = draw(30);
    let sum = 0;
    for (const sender of senders) {
      const known = new Set([...senders, ...Array.from({ length: draw(6) }, () => draw(12))]);
      const rank = [...known].filter((number) => number < sender).length;
      sum += shareOf(limit, { rank, of: known.size });
    }
    expect(sum).toBeLessThanOrEqual(limit);
  }
});
