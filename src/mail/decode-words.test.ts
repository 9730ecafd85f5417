import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeWords } from './decode-words.ts';
import { encodedWords } from './encoded-word.ts';

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

test('hostile text is read in one go', () => {
  expect(decodeWords('=?a'.repeat(100_000))).toHaveLength(300_000);
  expect(decodeWords('=?utf-8?Q?a?= '.repeat(50_000))).toBe(`${'a'.repeat(50_000)} `);
});
