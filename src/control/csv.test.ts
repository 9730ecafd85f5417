import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsvError, readCsv } from './csv.ts';

async function rowsOf(text: string) {
  const rows: [number, ...string[]][] = [];
  for await (const { line, cells } of readCsv(text)) rows.push([line, ...cells]);
  return rows;
}

test.each([
  [
    'a,b\r\n1,2\r\n',
    [
      [1, 'a', 'b'],
      [2, '1', '2'],
    ],
  ],
  [
    '\uFEFFa;b\n"x;""y""";2',
    [
      [1, 'a', 'b'],
      [2, 'x;"y"', '2'],
    ],
  ],
  [
    'a\tb\n\n\n 1 \t2,3',
    [
      [1, 'a', 'b'],
      [4, '1', '2,3'],
    ],
  ],
  [
    'a,b\n"two\nlines",1\nnext',
    [
      [1, 'a', 'b'],
      [2, 'two\nlines', '1'],
      [4, 'next'],
    ],
  ],
  [
    'a,b\nhalf "quoted" cell,1,2,3',
    [
      [1, 'a', 'b'],
      [2, 'half "quoted" cell', '1', '2', '3'],
    ],
  ],
  ['', []],
] as const)('%j', async (text, rows) => expect(await rowsOf(text)).toEqual(rows));

test('a quote that never ends, or a row beyond all bounds, is an error that names the line', async () => {
  await expect(rowsOf('a,b\n"1,2\n3')).rejects.toThrow(CsvError);
  await expect(rowsOf(`a,b\n${'x'.repeat(70_000)}`)).rejects.toThrow(/line 2|Max Record Size/);
});

test('others may go on while a long text is read', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const rows = await rowsOf(`a,b\n${'some@example.org,x\n'.repeat(100_000)}`);
  clearInterval(timer);
  expect(rows).toHaveLength(100_001);
  expect(rows.at(-1)?.[0]).toBe(100_001);
  expect(turns).toBeGreaterThan(2);
});

test('whatever the text is, it ends in rows or in an error', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('a', ',', ';', '"', '\n', '\r', ' ', '\0') }),
      async (text) => {
        try {
          for (const [line] of await rowsOf(text)) expect(line).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(CsvError);
        }
      },
    ),
  );
});
