import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inTime } from '../../test/fuzz/processor-time.ts';
import { readListUnsubscribe } from './list-unsubscribe.ts';

const POST = 'List-Unsubscribe=One-Click';
const WEB = 'https://example.com/off?a=1,2';

test.each<[string, string, readonly string[], boolean]>([
  ['', '', [], false],
  [`<${WEB}>`, '', [WEB], false],
  [`<${WEB}>`, POST, [WEB], true],
  [`<mailto:off@example.com?subject=x>, <${WEB}>`, POST, ['mailto:off@example.com?subject=x', WEB], true],
  [
    `(by mail) <mailto:off@example.com> ,\t<HTTPS://example.com/>`,
    ` list-unsubscribe=one-click `,
    ['mailto:off@example.com', 'HTTPS://example.com/'],
    true,
  ],
])('%s (%s) is right', (value, post, links, oneClick) => {
  expect(readListUnsubscribe(value, post)).toEqual({ links, oneClick, faults: [] });
});

test.each<[string, string, readonly string[], string]>([
  [WEB, '', [], 'is not in angle brackets'],
  ['<>', '', [], '"<>" is not in angle brackets'],
  ['<ftp://example.com/>', '', [], 'begins neither with'],
  ['<javascript:alert(1)>', '', [], 'begins neither with'],
  ['<https://example.com/a b>', '', [], 'contains a blank'],
  ['<http://exa mple.com>', '', [], 'contains a blank'],
  [`<${WEB}>, <http://example.com/>`, '', [WEB], 'is one more of its kind'],
  ['<http://example.com/>', POST, ['http://example.com/'], 'needs a link with https'],
  ['<mailto:off@example.com>', POST, ['mailto:off@example.com'], 'needs a link with https'],
  [`<${WEB}>`, 'yes', [WEB], 'List-Unsubscribe-Post must be'],
  ['', POST, [], 'needs a link with https'],
  [`<${WEB}>,`.repeat(20), '', [WEB], 'more than 10 links'],
])('%s (%s) is told of', (value, post, links, fault) => {
  const read = readListUnsubscribe(value, post);
  expect(read).toMatchObject({ links, oneClick: false });
  expect(read.faults.join(' ')).toContain(fault);
});

test('whatever is written is read, and what can be used is a link', () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          '<',
          '>',
          ',',
          ' ',
          '(',
          ')',
          'mailto:',
          'https://',
          'http://',
          'a.test',
          '/',
          '@',
          'ü',
        ),
      ),
      (pieces) => {
        const { links, faults } = readListUnsubscribe(pieces.join(''), '');
        expect(links.length).toBeLessThanOrEqual(2);
        for (const link of links) expect(link).toMatch(/^(?:mailto:|https?:\/\/)\S+$/);
        expect(faults.length).toBeLessThanOrEqual(12);
      },
    ),
  ));

test.each(['<a', ',', '<,', ', ', '(,', ' '])('a long field of %j takes linear time', (unit) => {
  inTime('a long field', () => {
    const { faults } = readListUnsubscribe(unit.repeat(200_000), '');
    expect(faults.join('').length).toBeLessThan(200);
  });
});
