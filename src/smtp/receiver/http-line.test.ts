import { expect, test } from 'vitest';
import { isHttpLine, judgeEarlyTalk } from './http-line.ts';

test('every beginning of a request line may become one', () => {
  const line = 'PROP-FIND /a?b=c HTTP/1.1';
  for (let end = 1; end < line.length; end++)
    expect([line.slice(0, end), judgeEarlyTalk(line.slice(0, end), false)]).toEqual([
      line.slice(0, end),
      'maybe',
    ]);
  expect(judgeEarlyTalk(`${line}\r`, false)).toBe('maybe');
  expect(judgeEarlyTalk(line, true)).toBe('http');
});

test.each(['e', 'EHLO a b', 'GET  /', 'GET / HTTQ', ' GET', '\x16\x03', 'A'.repeat(26)])(
  '%j cannot',
  (text) => {
    expect(judgeEarlyTalk(text, false)).toBe('other');
  },
);

test.each([
  'EHLO x',
  'MAIL FROM:<a@x.test>',
  'RCPT TO:<a@x.test> NOTIFY=NEVER',
  'NOOP',
  '',
  'BDAT 5 LAST',
  'AUTH PLAIN AGEAYg==',
  'VRFY a:b',
  'NOOP GET / HTTP/1.1',
  'HELP http://x',
  'FOO bar',
])('%j is no line of HTTP', (line) => expect(isHttpLine(line)).toBe(false));
