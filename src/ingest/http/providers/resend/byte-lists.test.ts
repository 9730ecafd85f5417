import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutByteLists } from './byte-lists.ts';

function replaced(text: string): string {
  const work = withoutByteLists(Buffer.from(text));
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value.toString();
  }
}

test('lists of bytes become base64, wherever they are', () => {
  const file = fc.uint8Array({ maxLength: 300 });
  const indent = fc.constantFrom(0, 2, '\t');
  fc.assert(
    fc.property(fc.string(), fc.array(file, { maxLength: 4 }), indent, (html, files, space) => {
      const email = (content: (bytes: Uint8Array) => unknown) => ({
        html,
        attachments: files.map((bytes) => ({ filename: html, content: content(bytes) })),
      });
      const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
      const list = JSON.stringify(
        email((bytes) => [...bytes]),
        null,
        space,
      );
      expect(JSON.parse(replaced(list))).toEqual(email(base64));
      const buffer = JSON.stringify(
        email((bytes) => Buffer.from(bytes)),
        null,
        space,
      );
      expect(JSON.parse(replaced(buffer))).toEqual(
        email((bytes) => ({ type: 'Buffer', data: base64(bytes) })),
      );
    }),
  );
});

test('all else stays, whether it is JSON or not', () => {
  const parts = [
    '"content"',
    '"data"',
    ':',
    '[',
    ']',
    ',',
    '1',
    '256',
    '01',
    '-1',
    '1.5',
    '1e2',
    ' ',
    '"',
    '\\"',
    'x',
    '{',
    '}',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 25 }), (pieces) => {
      const text = pieces.join('');
      const lists = /"(?:content|data)"[ ]*:[ ]*\[ *(?:(?:0|[1-9]\d{0,2}) *(?:, *(?:0|[1-9]\d{0,2}) *)*)?\]/;
      if (!lists.test(text)) expect(replaced(text)).toBe(text);
      else expect(() => replaced(text)).not.toThrow();
    }),
    { numRuns: 3000 },
  );
});

test.each([
  ['"content":[256]'],
  ['"content":[1,]'],
  ['"content":[01]'],
  ['"content":[-1]'],
  ['"content":[1.0]'],
  ['"content":["a"]'],
  ['"content":[1,[2]]'],
  ['"content":[1 2]'],
  ['"content":[1'],
  ['"content":'],
  ['"to":[1]'],
  ['"html":"\\"content\\":[1]"'],
])('%s stays', (text) => expect(replaced(text)).toBe(text));

test('very many of them are read in slices', () => {
  const bytes = Buffer.alloc(1_500_000, 7);
  const work = withoutByteLists(Buffer.from(JSON.stringify({ content: [...bytes] })));
  let slices = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) slices += 1;
  expect(slices).toBeGreaterThan(1);
  expect(step.value.toString()).toBe(JSON.stringify({ content: bytes.toString('base64') }));
});
