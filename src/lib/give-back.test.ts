import { expect, test } from 'vitest';
import { giveBack, giveBackAllBut } from './give-back.ts';

test('what has its memory to itself is empty afterwards', () => {
  const bytes = Buffer.alloc(100_000, 1);
  giveBack(bytes);
  expect([bytes.length, bytes.buffer.byteLength]).toEqual([0, 0]);
});

test('a part of memory that others use stays, and so does memory that threads share', () => {
  const whole = Buffer.alloc(100_000, 1);
  giveBack(whole.subarray(1));
  const shared = new Uint8Array(new SharedArrayBuffer(100_000));
  giveBack(shared);
  expect([whole.length, shared.length]).toEqual([100_000, 100_000]);
});

test('what is small stays', () => {
  const small = Buffer.allocUnsafeSlow(64 * 1024 - 1);
  giveBack(small);
  expect(small.length).toBe(64 * 1024 - 1);
});

test('of several, what shares its memory with one to be kept stays', () => {
  const [kept, gone, small] = [Buffer.alloc(100_000), Buffer.alloc(100_000), Buffer.allocUnsafeSlow(100)];
  giveBackAllBut([kept.subarray(10)], [kept, gone, small]);
  expect([kept.length, gone.length, small.length]).toEqual([100_000, 0, 100]);
});
