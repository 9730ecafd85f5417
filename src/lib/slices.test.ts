import { expect, test } from 'vitest';
import { atOnce, inSlices, type Sliced } from './slices.ts';

function* count(slices: number, noted: string[] = []): Sliced<number> {
  for (let slice = 1; slice < slices; slice++) {
    noted.push(`slice ${slice}`);
    yield;
  }
  return slices;
}

test('others have their turn between the slices', async () => {
  const noted: string[] = [];
  const work = inSlices(count(3, noted));
  setImmediate(() => noted.push('another'));
  expect(await work).toBe(3);
  expect(noted).toEqual(['slice 1', 'slice 2', 'another']);
});

test('at once is without a pause, and gives the same', () => {
  expect(atOnce(count(5))).toBe(5);
});

test('what the work throws is thrown', async () => {
  // biome-ignore lint/correctness/useYield: work that fails before its first pause.
  const fail = function* (): Sliced<never> {
    throw new RangeError('no');
  };
  await expect(inSlices(fail())).rejects.toThrow(RangeError);
  expect(() => atOnce(fail())).toThrow(RangeError);
});
