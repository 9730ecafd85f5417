import { expect, test } from 'vitest';
import { crowdBuffer, SharedCrowd } from './shared-counts.ts';

const SEED = 7;

test('threads count the same connections', () => {
  const buffer = crowdBuffer(SEED);
  const [one, other] = [new SharedCrowd(buffer), new SharedCrowd(buffer)];
  one.enter();
  other.enter();
  other.enter();
  expect([one.size, other.size]).toEqual([3, 3]);
  one.leave();
  expect(other.size).toBe(2);
});

test('a source has as many as it may, whichever thread it comes to, and not one more', () => {
  const buffer = crowdBuffer(SEED);
  const [one, other] = [new SharedCrowd(buffer), new SharedCrowd(buffer)];
  const source = '192.0.2.1';
  expect([one.claim(source, 2), other.claim(source, 2), one.claim(source, 2)]).toEqual([true, true, false]);
  expect(other.claim('192.0.2.2', 2)).toBe(true);
  other.unclaim(source);
  expect([one.claim(source, 2), other.claim(source, 2)]).toEqual([true, false]);
});

test('an IPv6 /64 is one source', () => {
  const crowd = new SharedCrowd(crowdBuffer(SEED));
  expect([crowd.claim('2001:db8::1', 1), crowd.claim('2001:db8::2', 1)]).toEqual([true, false]);
  expect(crowd.claim('2001:db8:0:1::1', 1)).toBe(true);
});

test('hardly two of a thousand sources share a place', () => {
  const crowd = new SharedCrowd(crowdBuffer(SEED));
  const sources = Array.from({ length: 1000 }, (_, place) => `10.0.${place >> 8}.${place & 255}`);
  expect(sources.filter((source) => crowd.claim(source, 1)).length).toBeGreaterThan(970);
});
