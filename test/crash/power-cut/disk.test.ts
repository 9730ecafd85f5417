import { expect, test } from 'vitest';
import { type Random, seededRandom } from '../../../src/lib/random.ts';
import { Disk, type Found } from './disk.ts';
import type { Deed } from './history.ts';

/** A disk on which all of this has been done, one after the other. */
function diskAfter(...deeds: readonly Deed[]): Disk {
  const disk = new Disk();
  for (const deed of deeds) for (const phase of ['begun', 'returned'] as const) disk.apply({ phase, deed });
  return disk;
}

const make = (name: string): Deed => ({ kind: 'make', name, folder: false });
const sync = (name: string): Deed => ({ kind: 'sync', name });
const write = (name: string, offset: number, text: string): Deed => ({
  kind: 'write',
  name,
  offset,
  bytes: Buffer.from(text),
});

function textsOf(found: Found): Record<string, string | undefined> {
  return Object.fromEntries([...found].map(([name, bytes]) => [name, bytes?.toString('latin1')]));
}

/** Everything that many cuts find of a file. */
function seen(disk: Disk, name: string, dice: Random = seededRandom(1)): Set<string | undefined> {
  return new Set(Array.from({ length: 500 }, () => textsOf(disk.cut('dice', dice))[name]));
}

const dice = seededRandom(1);

test('only what was flushed is sure: bytes by the file, names by the folder', () => {
  const disk = diskAfter(
    make('a'),
    write('a', 0, 'old'),
    sync('a'),
    sync(''),
    write('a', 0, 'new'),
    make('b'),
  );
  expect(textsOf(disk.cut('lost', dice))).toEqual({ a: 'old' });
  expect(textsOf(disk.cut('kept', dice))).toEqual({ a: 'new', b: '' });
  expect(textsOf(diskAfter(make('a'), write('a', 0, 'old'), sync('a')).cut('lost', dice))).toEqual({});
});

test('a flush covers what had been done when it began, and nothing before it is over', () => {
  const disk = diskAfter(make('a'), sync(''));
  const [late, flush] = [write('a', 3, 'late'), sync('a')];
  disk.apply({ phase: 'begun', deed: late });
  const early = write('a', 0, 'abc');
  for (const phase of ['begun', 'returned'] as const) disk.apply({ phase, deed: early });
  disk.apply({ phase: 'begun', deed: flush });
  disk.apply({ phase: 'returned', deed: late });
  expect(textsOf(disk.cut('lost', dice))).toEqual({ a: '' });
  disk.apply({ phase: 'returned', deed: flush });
  expect(textsOf(disk.cut('lost', dice))).toEqual({ a: 'abc' });
  expect(textsOf(disk.cut('kept', dice))).toEqual({ a: 'abclate' });
});

test('of what was not flushed any part may be there: single writes, sectors, a length without its bytes', () => {
  const sectors = ['x', 'y'].map((letter) => letter.repeat(512));
  const disk = diskAfter(make('a'), sync(''), write('a', 0, 'old'), sync('a'));
  for (const deed of [write('a', 0, 'new'), write('a', 512, sectors.join(''))])
    for (const phase of ['begun', 'returned'] as const) disk.apply({ phase, deed });
  const gap = '\0'.repeat(509);
  const found = seen(disk, 'a');
  for (const text of ['old', 'new', `old${gap}${sectors.join('')}`, `new${gap}${sectors[0]}`])
    expect(found).toContain(text);
  expect(found).toContain(`old${'\0'.repeat(1533)}`);
  expect([...found].some((text) => text !== undefined && /[^\0xyoldnew]/.test(text))).toBe(true);
  for (const text of found) expect(text?.slice(0, 3)).toMatch(/^(?:old|new)$/);
});

test('names may come and go in any order, or in theirs', () => {
  const disk = diskAfter(make('a.new'), write('a.new', 0, 'text'), sync('a.new'), sync(''), make('z'));
  for (const deed of [
    { kind: 'rename', name: 'a.new', to: 'a' },
    { kind: 'remove', name: 'z' },
  ] as const)
    for (const phase of ['begun', 'returned'] as const) disk.apply({ phase, deed });
  const rolled = seededRandom(2);
  const states = new Set(Array.from({ length: 200 }, () => [...disk.cut('dice', rolled).keys()].join(' ')));
  expect([...states].sort()).toEqual(['a', 'a z', 'a.new', 'a.new z']);
});

test('a truncated file may still be as long as it was, and what follows the cut is not what lay there', () => {
  const disk = diskAfter(make('a'), write('a', 0, 'abcdef'), sync('a'), sync(''));
  for (const deed of [{ kind: 'truncate', name: 'a', size: 2 } as const, write('a', 4, 'z')])
    for (const phase of ['begun', 'returned'] as const) disk.apply({ phase, deed });
  expect(textsOf(disk.cut('lost', dice))).toEqual({ a: 'abcdef' });
  expect(textsOf(disk.cut('kept', dice))).toEqual({ a: 'ab\0\0z' });
});

test('nothing lies in a folder that is not there', () => {
  const disk = diskAfter({ kind: 'make', name: 'd', folder: true }, make('d/a'), sync('d'));
  expect(textsOf(disk.cut('lost', dice))).toEqual({});
  expect([...disk.cut('kept', dice).keys()]).toEqual(['d', 'd/a']);
});
