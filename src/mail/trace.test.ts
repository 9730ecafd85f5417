import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDate, isDate, parseDate, receivedHeader, type Trace } from './trace.ts';

const trace = (partial: Partial<Trace>): string =>
  receivedHeader({
    byHost: 'mail.example.com',
    fromAddress: '192.0.2.1',
    protocol: 'HTTP',
    id: 'msg_01',
    date: Date.UTC(2026, 10, 20, 11, 15),
    ...partial,
  });

test.each<[string, Partial<Trace>, string]>([
  ['IPv4', {}, 'from [192.0.2.1] by mail.example.com with HTTP id msg_01;'],
  [
    'IPv6',
    { fromAddress: '2001:db8::1' },
    'from [IPv6:2001:db8::1] by mail.example.com with HTTP id msg_01;',
  ],
  ['no peer', { fromAddress: null }, 'by mail.example.com with HTTP id msg_01;'],
  [
    'one recipient',
    { for: 'a@x.org' },
    'from [192.0.2.1] by mail.example.com with HTTP id msg_01 for <a@x.org>;',
  ],
  ['non-ASCII recipient', { for: 'ü@x.org' }, 'from [192.0.2.1] by mail.example.com with HTTP id msg_01;'],
  [
    'the name that the peer gave',
    { fromName: 'client.test' },
    'from client.test ([192.0.2.1]) by mail.example.com with HTTP id msg_01;',
  ],
  [
    'the address as the name',
    { fromName: '[192.0.2.1]' },
    'from [192.0.2.1] ([192.0.2.1]) by mail.example.com with HTTP id msg_01;',
  ],
  [
    'a name that is none',
    { fromName: 'my pc' },
    'from [192.0.2.1] ([192.0.2.1]) by mail.example.com with HTTP id msg_01;',
  ],
])('%s', (_, partial, clauses) => {
  const text = trace(partial);
  expect(text.replaceAll('\r\n ', ' ')).toBe(`Received: ${clauses} Fri, 20 Nov 2026 11:15:00 +0000\r\n`);
  expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
});

test('nothing can be injected', () => {
  expect(() => trace({ for: 'a@x.org>\r\nBcc: b@x.org' })).toThrow(RangeError);
});

test('dates are written in UTC', () => {
  expect(formatDate(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe('Fri, 02 Jan 2026 03:04:05 +0000');
  expect(isDate(formatDate(0))).toBe(true);
});

test.each([
  'Fri, 20 Nov 2026 11:15:00 +0000',
  'Fri, 20 Nov 2026 11:15:00 GMT',
  'Fri, 20 Nov 2026 11:15:00 -0830 (PST)',
  '1 Jan 2026 00:00 UT',
  'Fri,20 Nov 2026 11:15:00 -0300 (GMT-03:00)',
  '20 Nov 2026 11:15:00 UTC',
  '29 Feb 2028 23:59:60 +1400',
])('%s is a date', (text) => expect(isDate(text)).toBe(true));

test.each([
  '',
  'now',
  '2026-11-20T11:15:00Z',
  'Thu, 20 Nov 2026 11:15:00 +0000',
  '29 Feb 2026 00:00:00 +0000',
  '0 Jan 2026 00:00:00 +0000',
  '1 Foo 2026 00:00:00 +0000',
  '1 Jan 1899 00:00:00 +0000',
  '1 Jan 2026 24:00:00 +0000',
  '1 Jan 2026 00:60:00 +0000',
  '1 Jan 2026 00:00:61 +0000',
  '1 Jan 2026 00:00:00 +0060',
  '1 Jan 2026 00:00:00',
  '1 Jan 2026 00:00:00 EST',
  'Fri, 20 Nov 2026 11:15:00 +0000\n',
])('%j is none', (text) => expect(isDate(text)).toBe(false));

test.each([
  ['Fri, 20 Nov 2026 11:15:00 +0000', '2026-11-20T11:15:00.000Z'],
  ['Thu, 29 Apr 2009 00:00:00 -0000 (EST)', '2009-04-29T00:00:00.000Z'],
  ['Thu, 8 Mar 2005 14:00:00 EDT', '2005-03-08T18:00:00.000Z'],
  ['Mon,  1 Jul 2013 14:37:29 -0400 (EDT)', '2013-07-01T18:37:29.000Z'],
  ['Tue, 28 Dec 2010 11:57:56 PST', '2010-12-28T19:57:56.000Z'],
  ['Thu, 30 Dec 10 10:37:16 -0800', '2010-12-30T18:37:16.000Z'],
  ['30 dec 1999 9:03 ut', '1999-12-30T09:03:00.000Z'],
  ['Thu, 30 Dec 99 00:00:00 JST', '1999-12-30T00:00:00.000Z'],
  ['Thu,\r\n 30 Dec 2010 (a day)\t19:48:55', '2010-12-30T19:48:55.000Z'],
  ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
  ['31 Dec 2026 23:59:60 +05:30', '2026-12-31T18:30:00.000Z'],
])('%j is read as %s', (text, instant) => {
  const read = parseDate(text);
  expect(read === null ? null : new Date(read).toISOString()).toBe(instant);
});

test.each([
  '',
  'yesterday',
  '31 Feb 2026 10:00:00 +0000',
  '0 Jan 2026 10:00:00 +0000',
  '1 Foo 2026 10:00:00 +0000',
  '1 Jan 2026 24:00:00 +0000',
  '1 Jan 2026 10:60:00 +0000',
  '1 Jan 2026 10:00:61 +0000',
  '1 Jan 2026 10:00:00 +2400',
  '1 Jan 1899 10:00:00 +0000',
  '1 Jan 2026',
  `1 Jan 2026 10:00:00 +0000${' '.repeat(200)}`,
])('%j is not read as a date', (text) => expect(parseDate(text)).toBeNull());

test('what we write as a date is read as the same second, whatever it is', () => {
  const seconds = fc.integer({ min: Date.UTC(1900, 0, 1) / 1000, max: Date.UTC(9999, 0, 1) / 1000 });
  fc.assert(fc.property(seconds, (second) => parseDate(formatDate(second * 1000)) === second * 1000));
});

test('any text is read as a date or not, in no time', () => {
  const word = fc.constantFrom(
    'Mon',
    ',',
    ' ',
    '1',
    '29',
    'Feb',
    '-',
    '2026',
    '10:00',
    ':',
    '(',
    ')',
    '+0000',
    'EST',
    '\t',
  );
  const started = performance.now();
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (words) => {
      const read = parseDate(words.join(''));
      return read === null || Number.isSafeInteger(read);
    }),
    { numRuns: 2000 },
  );
  expect(performance.now() - started).toBeLessThan(3000);
});
