import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodedWords } from './field.ts';
import { authorsOf, decodeWords, listIdOf, MAX_AUTHORS, withoutComments } from './field-values.ts';
import { readLooseHeader } from './header-block.ts';

test.each([
  ['plain', 'plain'],
  ['=?utf-8?Q?Gr=C3=BC=C3=9Fe_aus_K=C3=B6ln?=', 'Grüße aus Köln'],
  ['=?UTF-8?b?R3LDvMOfZQ==?=', 'Grüße'],
  ['=?iso-8859-1?q?Gr=FC=DFe?=', 'Grüße'],
  ['=?ISO-2022-JP?B?GyRCRnxLXDhsGyhC?=', '日本語'],
  ['=?utf-8*de?Q?=C3=A4?=', 'ä'],
  ['Re: =?utf-8?Q?=C3=A4?= (fwd)', 'Re: ä (fwd)'],
  // RFC 2047 §8
  ['(=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=)', '(ab)'],
  ['(=?ISO-8859-1?Q?a?= b)', '(a b)'],
  ['(=?ISO-8859-1?Q?a_b?=)', '(a b)'],
  ['=?utf-8?Q?a?= =?iso-8859-1?Q?=E4?=', 'aä'],
  // A character split between two words
  ['=?utf-8?Q?=C3?= =?utf-8?Q?=A4?=', 'ä'],
  ['=?nonsense?Q?a?= =?utf-8?Q?b?=', '=?nonsense?Q?a?= b'],
  ['=?utf-8?Q?b?= =?nonsense?Q?a?=', 'b =?nonsense?Q?a?='],
  ['=?utf-8?X?a?=', '=?utf-8?X?a?='],
  ['=?utf-8?Q?a b?=', '=?utf-8?Q?a b?='],
  ['=?utf-8?Q?bad=FF?=', 'bad\ufffd'],
  ['=?utf-8?Q?a=0D=0ABcc:_x?=', 'a Bcc: x'],
  ['=?utf-8?Q??=', ''],
  ['=?', '=?'],
])('%s', (text, shown) => expect(decodeWords(text)).toBe(shown));

test('reads back what we write', () => {
  const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
  const property = fc.property(line, (text) => {
    fc.pre(!/[\0-\x1f\x7f-\x9f]/.test(text));
    expect(decodeWords(encodedWords(text).join(' '))).toBe(text.toWellFormed());
  });
  fc.assert(property, { numRuns: 1000 });
});

test('of a text in more charsets than thirty only the words in the first thirty are read', () => {
  const word = (charset: string) => `=?${charset}?Q?a?=`;
  const unknown = Array.from({ length: 29 }, (_, i) => word(`x-${i}`)).join(' ');
  expect(decodeWords(`${unknown} ${word('utf-8')}`)).toBe(`${unknown} a`);
  expect(decodeWords(`${word('utf-8')} ${unknown} ${word('iso-8859-1')} ${word('utf-8')}`)).toBe(
    `a ${unknown} ${word('iso-8859-1')} a`,
  );
});

test.each([
  ['<news.example.com>', 'news.example.com'],
  ['Our <3 news <news.example.com>', 'news.example.com'],
  ['news.example.com', 'news.example.com'],
  ['<unclosed', '<unclosed'],
  ['> <', '> <'],
])('the list of %s is %s', (value, list) => expect(listIdOf(value)).toBe(list));

test('hostile text is read in one go', () => {
  expect(decodeWords('=?a'.repeat(100_000))).toHaveLength(300_000);
  expect(decodeWords('=?utf-8?Q?a?= '.repeat(50_000))).toBe(`${'a'.repeat(50_000)} `);
});

test.each([
  ['a@x.test', 'a@x.test'],
  ['a@x.test (Jane)', 'a@x.test  '],
  ['(a (b) \\) c)d', ' d'],
  ['"(a)" (b) <c>', '"(a)"   <c>'],
  ['("a) b', '  b'],
  ['("a)")b', '("a)")b'],
  ['a (b', 'a (b'],
  ['a) b', 'a) b'],
  ['"a (b)', '"a (b)'],
])('%j without comments is %j', (text, rest) => expect(withoutComments(text)).toBe(rest));

function authors(header: string): readonly string[] | null {
  const read = readLooseHeader(Buffer.from(header).toString('latin1'), header.length * 2);
  return authorsOf(read?.fields ?? [])?.map(({ address }) => address) ?? null;
}

test.each([
  ['From: Jane <jane@x.test>\r\n', ['jane@x.test']],
  ['From: jane@x.test (Jane)\r\n', ['jane@x.test']],
  ['From: =?utf-8?q?J=C3=B6rg?= <j@x.test>\r\n', ['j@x.test']],
  ['From: Jörg <j@x.test>\r\n', ['j@x.test']],
  ['from : a@x.test\r\nFROM: b@y.test\r\n', ['a@x.test', 'b@y.test']],
  // The address first, and then what its name looks like.
  ['From: a@x.test <b@y.test>\r\n', ['b@y.test', 'a@x.test']],
  ['From: a@x.test, b@y.test\r\nSender:\r\n c@z.test\r\n', ['a@x.test', 'b@y.test', 'c@z.test']],
  ['Sender: c@z.test\r\nReply-To: d@z.test\r\n', ['c@z.test']],
  ['Subject: x\r\n', []],
  ['From:\r\n', []],
])('%j is from %j', (header, found) => expect(authors(header)).toEqual(found));

test.each([
  'From: root\r\n',
  'From: Doe, Jane <j@x.test>\r\n',
  'From: a@x.test\r\nSender: root\r\n',
  'From: a@x.test\r\nFrom: root\r\n',
])('%j cannot be read', (header) => expect(authors(header)).toBeNull());

test(`there are at most ${MAX_AUTHORS} authors, in all fields together`, () => {
  const many = (count: number) => Array<string>(count).fill('a@x.test').join(', ');
  expect(authors(`From: ${many(MAX_AUTHORS)}\r\n`)).toHaveLength(MAX_AUTHORS);
  expect(authors(`From: ${many(MAX_AUTHORS + 1)}\r\n`)).toBeNull();
  expect(authors(`From: ${many(MAX_AUTHORS)}\r\nSender: a@x.test\r\n`)).toBeNull();
});

test('no text is slow to read, however odd', () => {
  const started = performance.now();
  for (const piece of [
    '"',
    '"@"',
    '"@"<',
    '"@"<,',
    '(',
    '()',
    '(x)',
    '\\',
    '\\"',
    ',',
    ', ',
    '<',
    '=?',
    '@',
    ' @ <',
  ])
    for (const end of ['', '"', ')', '<a@x.test>'])
      authors(`From: ${piece.repeat(60_000 / piece.length)}${end}\r\nSender: a@x.test\r\n`);
  expect(performance.now() - started).toBeLessThan(5000);
});
