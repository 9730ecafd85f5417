import { expect, test } from 'vitest';
import { formatDate, isDate, receivedHeader, type Trace } from './trace.ts';

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
