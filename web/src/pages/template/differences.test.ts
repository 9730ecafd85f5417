import fc from 'fast-check';
import { expect, test } from 'vitest';
import { differences, excerpts, tally } from './differences.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((all) => all.join('\n'));

test('both texts can be put together from the runs again', () => {
  fc.assert(
    fc.property(lines, lines, (older, newer) => {
      const runs = differences(older, newer);
      const without = (kind: string) =>
        runs.flatMap((run) => (run.kind === kind ? [] : run.lines)).join('\n');
      expect([without('added'), without('removed')]).toEqual([older, newer]);
      for (const [place, { kind, lines: of }] of runs.entries()) {
        expect(of.length).toBeGreaterThan(0);
        expect(kind).not.toBe(runs[place - 1]?.kind);
      }
    }),
  );
});

test('a line that was put in is the only difference, whatever is around it', () => {
  expect(differences('<p>\nHello\n</p>', '<p>\nHello\nyou\n</p>')).toEqual([
    { kind: 'same', lines: ['<p>', 'Hello'] },
    { kind: 'added', lines: ['you'] },
    { kind: 'same', lines: ['</p>'] },
  ]);
  expect(differences('one\ntwo\nthree\nfour', 'two\n3\nfour')).toEqual([
    { kind: 'removed', lines: ['one'] },
    { kind: 'same', lines: ['two'] },
    { kind: 'removed', lines: ['three'] },
    { kind: 'added', lines: ['3'] },
    { kind: 'same', lines: ['four'] },
  ]);
  expect(differences('a\r\nb', 'a\nb')).toEqual([{ kind: 'same', lines: ['a', 'b'] }]);
  expect(differences('', '')).toEqual([]);
  expect(tally(differences('', 'a\nb'))).toEqual({ added: 2, removed: 0 });
});

test('what is far from a change is counted and not shown', () => {
  const text = Array.from({ length: 40 }, (_, place) => `line ${place}`);
  const changed = text.with(20, 'another');
  expect(excerpts(differences(text.join('\n'), changed.join('\n')))).toEqual([
    { kind: 'skipped', count: 17 },
    { kind: 'same', lines: ['line 17', 'line 18', 'line 19'] },
    { kind: 'removed', lines: ['line 20'] },
    { kind: 'added', lines: ['another'] },
    { kind: 'same', lines: ['line 21', 'line 22', 'line 23'] },
    { kind: 'skipped', count: 16 },
  ]);
});

test('very long texts that have nothing in common take no long time', () => {
  const long = (letter: string) => `${letter}\n`.repeat(100_000);
  expect(tally(differences(long('a'), long('b')))).toEqual({ added: 100_000, removed: 100_000 });
});
