import { expect, test } from 'vitest';
import { atOnce, formatTimestamp, inSlices, parseTimestamp, type Sliced, turnFor } from './clock.ts';

test.each([
  ['2026-11-20T11:15:00.123Z', Date.UTC(2026, 10, 20, 11, 15, 0, 123)],
  ['2026-11-20t11:15:00z', Date.UTC(2026, 10, 20, 11, 15)],
  ['2026-11-20T11:15:00.123456789+02:00', Date.UTC(2026, 10, 20, 9, 15, 0, 123)],
  ['2026-11-20T11:15:00.1-05:30', Date.UTC(2026, 10, 20, 16, 45, 0, 100)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
  ['0099-01-01T00:00:00Z', new Date(0).setUTCFullYear(99, 0, 1)],
])('%s is read', (text, ms) => expect(parseTimestamp(text)).toBe(ms));

test.each([
  '',
  'now',
  '2026-11-20',
  '2026-11-20T11:15:00',
  '2026-11-20 11:15:00Z',
  '2026-11-20T11:15Z',
  '2026-02-30T00:00:00Z',
  '2023-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T11:60:00Z',
  '2026-11-20T11:15:61Z',
  '2026-11-20T11:15:00+24:00',
  '2026-11-20T11:15:00.Z',
  ' 2026-11-20T11:15:00Z',
  '2026-11-20T11:15:00Z\n',
  '+02026-11-20T11:15:00Z',
])('%j is refused', (text) => expect(parseTimestamp(text)).toBeNull());

test('what is written is read back', () => {
  for (const ms of [0, 1, 1_790_000_000_123, 253_402_300_799_999])
    expect(parseTimestamp(formatTimestamp(ms))).toBe(ms);
});

function* count(slices: number, noted: string[] = []): Sliced<number> {
  for (let slice = 1; slice < slices; slice++) {
    noted.push(`slice ${slice}`);
    yield;
  }
  return slices;
}

test('others have their turn between the slices', async () => {
  const noted: string[] = [];
  setImmediate(() => noted.push('another'));
  expect(await inSlices(count(3, noted))).toBe(3);
  expect(noted.slice(0, 3)).toEqual(['slice 1', 'another', 'slice 2']);
});

const MIB = 1024 * 1024;

/** Does works in three slices each, on so many bytes; the name of each slice, and the turn of the loop it was in. */
async function workTogether(works: Readonly<Record<string, number>>) {
  const noted: { readonly name: string; readonly turn: number }[] = [];
  let turn = 0;
  let isOver = false;
  const countTurns = () => {
    turn++;
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  const slices = function* (name: string): Sliced<void> {
    for (let slice = 0; slice < 3; slice++) {
      noted.push({ name, turn });
      yield;
    }
  };
  await Promise.all(Object.entries(works).map(([name, bytes]) => inSlices(slices(name), turnFor(bytes))));
  isOver = true;
  return noted;
}

test('of several large works one has each turn, in the order in which they came', async () => {
  const noted = await workTogether({ a: MIB + 1, b: MIB + 1, c: MIB + 1 });
  const later = noted.slice(3);
  expect(later.map(({ name }) => name).join('')).toBe('abcabc');
  expect(new Set(later.map(({ turn }) => turn)).size).toBe(later.length);
});

test('small work never queues behind large work for its turn', async () => {
  const noted = await workTogether({ A: MIB + 1, B: MIB + 1, c: MIB, d: MIB });
  const small = noted.filter(({ name }) => 'cd'.includes(name));
  expect(small.map(({ name, turn }) => `${name}${turn}`)).toEqual(['c0', 'd0', 'c1', 'd1', 'c2', 'd2']);
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
