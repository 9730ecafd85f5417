import { expect, test } from 'vitest';
import { hearEarlyTalk, isHttpLine, judgeEarlyTalk } from './http-line.ts';
import { InputBuffer } from './input.ts';

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
  ['begins like a request and goes on otherwise', `POST / HTTT${'T'.repeat(9000)}`, 'other'],
  ['is a request without end', `GET /${'a'.repeat(9000)}`, 'http'],
  ['is of no method and without end', `LIST ${'a'.repeat(9000)}`, 'other'],
  ['is as long as may be, and no request', `GET /${'a'.repeat(8187)}\r\n`, 'other'],
  ['is as long as may be, and a request', `GET /${'a'.repeat(8178)} HTTP/1.1\r\n`, 'http'],
  ['is longer by one', `GET /${'a'.repeat(8188)}\r\n`, 'http'],
])('an early line that %s is the same whole and byte by byte', (_what, line, heard) => {
  const all = new InputBuffer();
  all.push(Buffer.from(line));
  expect(hearEarlyTalk(all)).toBe(heard);
  const some = new InputBuffer();
  const answers = [...line].map((byte) => {
    some.push(Buffer.from(byte));
    return hearEarlyTalk(some);
  });
  expect(answers.find((answer) => answer !== 'maybe')).toBe(heard);
});

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
