import { expect, test } from 'vitest';
import { authCommand, helloCommand, isSafePath, mailCommand, rcptCommand, responseLine } from './command.ts';

test('commands are written as RFC 5321 has them', () => {
  expect(mailCommand('', {})).toBe('MAIL FROM:<>\r\n');
  expect(mailCommand('a@x.test', { sizeBytes: 10, eightBit: true, utf8: true })).toBe(
    'MAIL FROM:<a@x.test> SIZE=10 BODY=8BITMIME SMTPUTF8\r\n',
  );
  expect(rcptCommand('jürgen@x.test')).toBe('RCPT TO:<jürgen@x.test>\r\n');
  expect(helloCommand('EHLO', '[IPv6:::1]')).toBe('EHLO [IPv6:::1]\r\n');
  expect(authCommand('LOGIN')).toBe('AUTH LOGIN\r\n');
  expect(authCommand('PLAIN', 'AHUAcA==')).toBe('AUTH PLAIN AHUAcA==\r\n');
});

test('no character that ends a line or a path, and no half character, is written', () => {
  for (let code = 0; code < 0x100; code++) {
    const character = String.fromCharCode(code);
    const unsafe = code <= 0x20 || (code >= 0x7f && code <= 0x9f) || '<>'.includes(character);
    expect(isSafePath(`a${character}b@x.test`)).toBe(!unsafe);
  }
  expect(isSafePath('\ud800@x.test')).toBe(false);
  expect(() => mailCommand('a>b@x.test', {})).toThrow(RangeError);
  expect(() => rcptCommand('a\r\nQUIT@x.test')).toThrow(RangeError);
  expect(() => helloCommand('EHLO', 'a b')).toThrow(RangeError);
  expect(() => responseLine('a\r\nQUIT')).toThrow(RangeError);
});
