import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from './json.ts';

const LIMITS = { maxDepth: 5, maxValues: 50 };
const parse = (text: string | Buffer) => parseJson(Buffer.from(text), LIMITS);

test('what JSON.parse gives is what comes out', () => {
  const wide = { maxDepth: 1000, maxValues: 100_000 };
  const values = fc
    .jsonValue({ maxDepth: 6 })
    .filter((value) => !JSON.stringify(value).includes('"__proto__"'));
  fc.assert(
    fc.property(values, fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseJson(Buffer.from(text), wide)).toEqual(JSON.parse(text));
    }),
  );
});

test('any text is taken as JSON.parse does, or refused by a problem', () => {
  const parts = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\"',
    '\\u',
    'd800',
    'a',
    '1',
    ' ',
    'é',
    'null',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('');
      try {
        expect(parse(text)).toEqual(JSON.parse(text));
      } catch (error) {
        expect(error).toMatchObject({ name: 'Problem', status: 400 });
      }
    }),
    { numRuns: 3000 },
  );
});

test.each([
  ['nothing', '', 'malformed_json'],
  ['half a text', '{"a":', 'malformed_json'],
  ['a comment', '{} // x', 'malformed_json'],
  ['a byte order mark', '\ufeff{}', 'malformed_json'],
  ['what is not UTF-8', Buffer.from('"\xff"', 'latin1'), 'invalid_utf8'],
  ['a lone surrogate', '{"a":["\\uD83D"]}', 'lone_surrogate'],
  ['a lone surrogate in a name', '{"\\udc00":1}', 'lone_surrogate'],
  ['a name twice', '{"to":["a"],"x":{"to":1},"to":["b"]}', 'duplicate_name'],
  ['a name twice, once escaped', '{"bcc":1,"\\u0062cc":2}', 'duplicate_name'],
  ['__proto__', '{"a":[{"__proto__":{}}]}', 'forbidden_name'],
  ['__proto__, escaped', '{"__pr\\u006fto__":1}', 'forbidden_name'],
  ['one level too deep', '[[[[[[1]]]]]]', 'json_too_complex'],
  ['a hundred thousand levels', '['.repeat(100_000), 'json_too_complex'],
  ['a hundred thousand objects', '{"a":'.repeat(100_000), 'json_too_complex'],
  ['too many values', `[${'0,'.repeat(60)}0]`, 'json_too_complex'],
])('%s is refused', (_, text, code) =>
  expect(() => parse(text)).toThrow(expect.objectContaining({ status: 400, code })),
);

test.each([
  ['as deep as allowed', '[[[[[1]]]]]'],
  ['the same name in different objects', '[{"a":1},{"a":{"a":2}}]'],
  ['brackets, commas and colons in strings', `{"a":"${'[{,:'.repeat(100)}\\"[[[","b":"\\\\"}`],
  ['a surrogate pair', '"\\ud83d\\ude00"'],
  ['something that looks like a surrogate', '"\\\\ud83d"'],
  ['a string as name and value', '{"a":"a","b":"b"}'],
])('%s is taken', (_, text) => expect(parse(text)).toEqual(JSON.parse(text)));

test('constructor and toString are ordinary names of the object itself', () => {
  const value = parse('{"constructor":1,"toString":2}');
  expect(Object.entries(value as object)).toEqual([
    ['constructor', 1],
    ['toString', 2],
  ]);
});

test('a malformed text is told where', () => {
  expect(() => parse('{"a" 1}')).toThrow(/position 5/);
  expect(() => parse('{"a":1')).toThrow(/position 6|its end/);
});

test.each([
  ['{"a":["x","\\uD83D"]}', '/a/1'],
  ['{"a":{"b/c\\udc00":1}}', '/a/b~1c\ufffd'],
  ['"\\ud800"', ''],
])('half a surrogate pair is pointed to: %s', (text, pointer) =>
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ errors: [expect.objectContaining({ pointer, code: 'lone_surrogate' })] }),
  ),
);

test('half a surrogate pair is taken where that is allowed, and everything else is refused as ever', () => {
  const taken = { ...LIMITS, takesHalfPairs: true };
  expect(parseJson(Buffer.from('{"a":["\\uD83D"]}'), taken)).toEqual({ a: ['\ud83d'] });
  expect(() => parseJson(Buffer.from('{"a":"\\uD83D","a":1}'), taken)).toThrow(
    expect.objectContaining({ errors: [expect.objectContaining({ code: 'duplicate_name' })] }),
  );
});

test.each([
  ['{"to":1,"to":2}', 'duplicate_name', '/to'],
  ['{"a":[1,{"b":0},{"c":1,"c/d":{"e":1,"e":2}}]}', 'duplicate_name', '/a/2/c~1d/e'],
  ['[[],[{"x":1},{"x":1,"x":2}]]', 'duplicate_name', '/1/1/x'],
  ['{"x":{"y":1},"metadata":{"__proto__":1}}', 'forbidden_name', '/metadata/__proto__'],
])('a faulty name is pointed to: %s', (text, code, pointer) =>
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ code, errors: [expect.objectContaining({ pointer, code })] }),
  ),
);

test('an empty body and a byte order mark are told as what they are', () => {
  expect(() => parse(' \n')).toThrow('The body is empty');
  expect(() => parse('\ufeff{}')).toThrow('byte order mark');
});
