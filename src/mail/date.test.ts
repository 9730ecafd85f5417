import { expect, test } from 'vitest';
import { formatDate, isDate } from './date.ts';

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
