import { expect, test } from 'vitest';
import { MAX_RECENT_SOURCES, RecentSources } from './shared.ts';

const TEN_MINUTES = 600_000;

test('a source is recent for ten minutes after its last message, and not before its first', () => {
  const recent = new RecentSources();
  expect(recent.has('192.0.2.1', 0)).toBe(false);
  recent.add('192.0.2.1', 0);
  expect(recent.has('192.0.2.1', TEN_MINUTES - 1)).toBe(true);
  expect(recent.has('192.0.2.1', TEN_MINUTES)).toBe(false);
  expect(recent.has('192.0.2.2', 1)).toBe(false);
  recent.add('192.0.2.1', TEN_MINUTES);
  expect(recent.has('192.0.2.1', 2 * TEN_MINUTES - 1)).toBe(true);
});

test('the addresses of an IPv6 /64 are one source', () => {
  const recent = new RecentSources();
  recent.add('2001:db8::1', 0);
  expect(recent.has('2001:db8::2', 1)).toBe(true);
  expect(recent.has('2001:db8:0:1::1', 1)).toBe(false);
});

test('one source past the bound, the one that sent longest ago is forgotten', () => {
  const recent = new RecentSources();
  const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
  for (let i = 0; i < MAX_RECENT_SOURCES; i++) recent.add(address(i), 0);
  recent.add(address(0), 1);
  recent.add('192.0.2.1', 2);
  expect([address(0), address(1), address(2), '192.0.2.1'].map((source) => recent.has(source, 3))).toEqual([
    true,
    false,
    true,
    true,
  ]);
});
