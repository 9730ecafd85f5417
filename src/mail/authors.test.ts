import { expect, test } from 'vitest';
import { authorsOf, MAX_AUTHORS } from './authors.ts';
import { readLooseHeader } from './header-block.ts';

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
