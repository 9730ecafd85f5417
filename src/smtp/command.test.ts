import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  asciiOrcpt,
  authCommand,
  DataFramer,
  helloCommand,
  isEnvid,
  isNotify,
  isOrcpt,
  isSafePath,
  mailCommand,
  orcptOf,
  rcptCommand,
  responseLine,
} from './command.ts';

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

test.each([
  ['QQ314159', true],
  ['a+2Bb+3D', true],
  ['a+b', false],
  ['a=b', false],
  ['a b', false],
  ['ü', false],
  ['', false],
  ['x'.repeat(101), false],
])('ENVID %j: %s', (text, valid) => {
  expect(isEnvid(text)).toBe(valid);
});

test.each([
  ['NEVER', true],
  ['SUCCESS,FAILURE,DELAY', true],
  ['NEVER,DELAY', false],
  ['SUCCESS,', false],
  ['delay', false],
])('NOTIFY %j: %s', (text, valid) => {
  expect(isNotify(text)).toBe(valid);
});

test('the ORCPT of any address can be written, and is read back as it', () => {
  for (const address of ['a@x.test', 'a+b=c@x.test', '"a\\"b"@x.test']) {
    const orcpt = orcptOf(address, false) ?? '';
    expect(isOrcpt(orcpt)).toBe(true);
    const [type, xtext = ''] = orcpt.split(';');
    expect(type).toBe('rfc822');
    expect(xtext.replace(/\+([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))).toBe(
      address,
    );
  }
  expect(orcptOf('jürgen@x.test', true)).toBe('utf-8;jürgen@x.test');
  expect(orcptOf('jürgen@x.test', false)).toBe('utf-8;j\\x{FC}rgen@x.test');
  expect(orcptOf(`${'+'.repeat(200)}@x.test`, false)).toBeNull();
  expect(asciiOrcpt('utf-8;😀@x.test')).toBe('utf-8;\\x{1F600}@x.test');
});

/** What a receiver makes of the framed content: RFC 5321 §4.5.2, written the simplest way. */
function receive(wire: string): string | null {
  const end = `\r\n${wire}`.indexOf('\r\n.\r\n');
  if (end < 0 || end + 3 !== wire.length) return null;
  return wire.slice(0, end).replace(/(^|\r\n)\./g, '$1');
}

function frame(chunks: readonly string[], stuff: boolean): string {
  const framer = new DataFramer(stuff);
  const framed = chunks.map((chunk) => Buffer.from(framer.push(Buffer.from(chunk))).toString());
  return framed.join('') + framer.end();
}

const END = '(?:\\r\\n|\\r|\\n)';
/** Where a receiver that takes anything for the end of a line finds the end of the content. */
function looseEnd(wire: string): number {
  return new RegExp(`${END}\\.${END}`).exec(`\r\n${wire}`)?.index ?? -1;
}

const pieces = (...alphabet: string[]) =>
  fc.array(fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 12 }), { maxLength: 6 });

test('whatever is sent is received, however it is cut', () => {
  fc.assert(
    fc.property(pieces('.', 'x', '\r\n.', '\r\n'), fc.nat(60), (chunks, cut) => {
      const text = chunks.join('');
      const expected = text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`;
      expect(receive(frame([text.slice(0, cut), text.slice(cut)], true))).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('no receiver finds the end before the end, whatever it takes for a line and however the content is cut', () => {
  fc.assert(
    fc.property(pieces('.', '\r', '\n', 'x', '\r\n.', '\r\n'), (chunks) => {
      const wire = frame(chunks, true);
      expect(receive(wire)).not.toBeNull();
      // Also where line ends could be counted otherwise, only the last line is a lone dot.
      expect(looseEnd(wire)).toBeGreaterThanOrEqual(wire.length - 3);
    }),
    { numRuns: 5000 },
  );
});

test('chunks in which nothing is doubled are passed on, not copied', () => {
  const chunk = Buffer.from('no dots at line starts\r\nnone.\r\n');
  expect(new DataFramer(true).push(chunk)).toBe(chunk);
  const dotted = Buffer.from('.\r\n');
  expect(new DataFramer(false).push(dotted)).toBe(dotted);
});

test.each([
  [['text\r\n'], '.\r\n'],
  [['text'], '\r\n.\r\n'],
  [['text\r', '\n'], '.\r\n'],
  [['text\r\n', ''], '.\r\n'],
  [[], '.\r\n'],
])('after %j comes %j', (chunks, end) => {
  expect(frame(chunks, false).slice(chunks.join('').length)).toBe(end);
});
