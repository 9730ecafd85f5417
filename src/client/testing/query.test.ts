/** Which mail a test asks for: what the server is asked, and what is left to look at. */
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { checkQuery, fits, isOrMatches, readableText } from './query.ts';

test('strings are for the server, patterns are not, and nothing is nothing', () => {
  const since = new Date(0);
  const { filter, wanted } = checkQuery({
    to: 'ann@example.com',
    subject: /code/,
    tag: null,
    since,
  });
  expect(filter).toEqual({ to: 'ann@example.com', since: '1970-01-01T00:00:00.000Z' });
  expect(wanted).toEqual([
    ['to', 'ann@example.com'],
    ['subject', /code/],
  ]);
});

test('a name that is none of a query is refused, as any mail would pass', () => {
  expect(() => checkQuery({ recipient: 'ann@example.com' } as object)).toThrow(
    'Mail cannot be asked for by recipient, only by to, from, subject, tag, text, since.',
  );
  expect(() => checkQuery({ within: 1 } as object, ['timeoutMs'])).toThrow('since, timeoutMs.');
  expect(checkQuery({ timeoutMs: 1 } as object, ['timeoutMs']).filter).toEqual({});
});

test.each([{ to: 7 }, { to: ['ann@example.com'] }, { subject: {} }])('%j is refused', (query) => {
  expect(() => checkQuery(query as object)).toThrow('must be a string or a regular expression');
});

test.each(['to', 'from', 'subject', 'tag', 'text', 'since'])('%s that is undefined is refused', (name) => {
  expect(() => checkQuery({ [name]: undefined } as object)).toThrow(
    `${name} is undefined, so that any mail would pass.`,
  );
});

test('a time to wait that is undefined is the usual one', () => {
  expect(checkQuery({ within: undefined } as object, ['within']).wanted).toEqual([]);
});

test.each(['to', 'since'])('%s that is empty is refused', (name) => {
  expect(() => checkQuery({ [name]: '' })).toThrow(`${name} is empty, so that any mail would pass.`);
});

test.each([undefined, null, 'ann@example.com', /code/, [], new Date(0), 7])('%s is no query', (query) => {
  expect(() => checkQuery(query as object)).toThrow('Mail is asked for by an object with to, from,');
});

test('a pattern of another realm is one', () => {
  const subject: unknown = runInNewContext('/code/');
  expect(checkQuery({ subject } as object).wanted).toEqual([['subject', subject]]);
});

test('a pattern that remembers where it was is asked from the start each time', () => {
  for (const pattern of [/code/g, /code/y])
    for (const _ of ['first', 'again']) expect(isOrMatches('code', pattern)).toBe(true);
  expect(isOrMatches('Code', /code/i)).toBe(true);
  expect(isOrMatches('code', 'cod')).toBe(false);
});

describe('a field fits as the server has it', () => {
  test.each([
    ['to', 'ANN@example.com', ['bob@example.net', 'ann@example.com'], true],
    ['to', '@example.com', ['ann@example.com'], true],
    ['to', '@example.com', ['ann@sub.example.com'], false],
    ['to', 'ann', ['ann@example.com'], false],
    ['from', 'shop@example.com', ['Shop <shop@example.com>'], true],
    ['from', /^Shop/, ['Shop <shop@example.com>'], true],
    ['subject', 'CODE', ['Your code'], true],
    ['tag', 'welcome', ['Welcome'], false],
    ['tag', /^wel/, ['news', 'welcome'], true],
    ['text', 'code your', ['Your code is 1.'], true],
    ['text', 'code missing', ['Your code is 1.'], false],
    ['to', /./, [], false],
  ] as const)('%s %s of %j: %s', (name, wanted, values, expected) => {
    expect(fits(name, wanted, values)).toBe(expected);
  });
});

describe('what a reader sees', () => {
  test.each([
    ['<p>Your code is <b>135790</b>.</p>', 'Your code is 135790.'],
    [
      '<p>Don&#39;t tell: se<b>cret</b></p><p>F&uuml;r Ann&#x2019;s&nbsp;cat</p>',
      "Don't tell: secret Für Ann’s cat",
    ],
    ['<td>1</td><td>2</td>3<br/>4<wbr>5', '1 2 3 45'],
    ['se&shy;cr\u200bet', 'secret'],
    ['&eth;&ETH;&yuml;&times;&szlig;', 'ðÐÿ×ß'],
    ['&#0;&#x110000;&nothing;&amp;amp; &', '&#0;&#x110000;&nothing;&amp; &'],
    ['<head><title>T</title></head><body>Hi</body>', 'Hi'],
    ['<style>a { color: #123456 }</style><p>A &amp; B&nbsp;C</p>', 'A & B C'],
    ['<STYLE>x</STYLE>1 < 2<!-- 3 -->', '1 < 2'],
    ['no tags', 'no tags'],
    ['<p', ''],
    ['', ''],
  ])('of %j', (html, text) => {
    expect(readableText({ text: null, html })).toBe(text);
  });
  test('is the text, where there is one', () => {
    expect(readableText({ text: 'plain', html: '<p>other</p>' })).toBe('plain');
    expect(readableText({ text: null, html: null })).toBe('');
    expect(readableText({ text: null, html: '<head><title>t</title><body><p>There</p>' })).toBe('There');
    expect(readableText({ text: ' \n', html: '<p>other</p>' })).toBe('other');
  });
  test('of HTML that goes on and on takes no time', () => {
    for (const html of [
      '<'.repeat(1e6),
      '<style>'.repeat(1e5),
      '<a '.repeat(1e6),
      '&'.repeat(1e6),
      ' '.repeat(1e6),
    ])
      expect(readableText({ text: null, html }).length).toBeLessThanOrEqual(2 * html.length);
  });
});
