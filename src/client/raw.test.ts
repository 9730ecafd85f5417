import { expect, test } from 'vitest';
import { rawTarget } from './message.ts';

const FROM = 'a@example.com';

test('an envelope travels in the query', () => {
  const envelope = {
    from: FROM,
    to: ['b@y', 'c@z'],
    tags: ['t'],
    sendAt: new Date(0),
    priority: 'bulk' as const,
    box: 'b.1',
    requireTls: true,
  };
  expect(rawTarget(envelope, false)).toEqual({
    query:
      '?from=a%40example.com&to=b%40y&to=c%40z&tag=t&sendAt=1970-01-01T00%3A00%3A00.000Z&priority=bulk&box=b.1&requireTls=true',
    headers: {},
  });
  const nothing = { tags: null, sendAt: null, priority: null, box: null, requireTls: false };
  expect(rawTarget({ from: FROM, to: 'b@y', ...nothing }, true).query).toBe(
    '?from=a%40example.com&to=b%40y&dryRun=true',
  );
});

test('recipients who have no room there travel in a header field, as UTF-8', () => {
  const to = Array.from({ length: 500 }, (_, place) => `jos\u00e9${place}@example.net`);
  const { query, headers } = rawTarget({ from: FROM, to }, false);
  expect(query).toBe('?from=a%40example.com');
  expect(Buffer.from(headers['to'] ?? '', 'latin1').toString('utf8')).toBe(to.join(', '));
});

test('an address with a line break is none, and never becomes a header field of its own', () => {
  const to = Array.from({ length: 500 }, () => 'recipient@example.net');
  expect(() => rawTarget({ from: FROM, to: [...to, 'b@y\r\nX-Mine: yes'] }, false)).toThrow(
    /envelope\.to\[500\]/,
  );
});
