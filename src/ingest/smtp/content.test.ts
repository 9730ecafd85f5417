import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { Budget } from '../../lib/budget.ts';
import { IncomingContent } from './content.ts';

/** What is kept of a message while it comes in. Waiting for room is held in test/protocol/smtp-listener. */

const CAPACITY = 1_000_000;

function start() {
  const budget = new Budget({ capacity: CAPACITY, maxWaiters: 10 });
  const content = new IncomingContent(budget, new ManualClock());
  return { content, taken: () => CAPACITY - budget.free };
}

test('what comes byte by byte is kept in few pieces, and whole', () => {
  const { content } = start();
  const text = 'The quick brown fox.\r\n'.repeat(4000);
  expect(content.begin('a', null, 200_000)).toBe(true);
  for (const byte of Buffer.from(text)) expect(content.add(Buffer.of(byte))).toBe(true);
  const { chunks, release } = content.take();
  expect(Buffer.concat(chunks).toString()).toBe(text);
  expect(chunks.length).toBeLessThan(100);
  release();
});

test('small pieces of large chunks keep no more memory than they have bytes', () => {
  const { content } = start();
  expect(content.begin('a', null, 200_000)).toBe(true);
  for (let i = 0; i < 49; i++)
    expect(content.add(Buffer.alloc(65_536, 'j').subarray(0, 1100).fill('y'))).toBe(true);
  const { chunks, release } = content.take();
  expect(Buffer.concat(chunks).toString()).toBe('y'.repeat(49 * 1100));
  expect(chunks.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)).toBe(49 * 1100);
  release();
});

test('pieces of some size are not copied', () => {
  const { content } = start();
  const piece = Buffer.alloc(60_000, 'x');
  expect(content.begin('a', null, 200_000)).toBe(true);
  expect(content.add(piece)).toBe(true);
  const { chunks, release } = content.take();
  expect(chunks[0]).toBe(piece);
  release();
});

test('the share grows with what comes, and is what SIZE said from the beginning', () => {
  const { content, taken } = start();
  expect(content.begin('a', null, 200_000)).toBe(true);
  const first = taken();
  expect(first).toBeLessThan(20_000);
  expect(content.add(Buffer.alloc(50_000))).toBe(true);
  expect(taken()).toBeGreaterThanOrEqual(50_000);
  expect(content.begin('a', 150_000, 200_000)).toBe(true);
  expect(taken()).toBe(150_000);
  content.drop();
  expect(taken()).toBe(0);
});

test('what was taken keeps its share when the session forgets, and gives it back once', () => {
  const { content, taken } = start();
  expect(content.begin('a', 100_000, 200_000)).toBe(true);
  expect(content.add(Buffer.alloc(100_000))).toBe(true);
  const { release } = content.take();
  content.drop();
  expect(content.begin('a', null, 200_000)).toBe(true);
  expect(taken()).toBeGreaterThan(100_000);
  content.drop();
  expect(taken()).toBe(100_000);
  release();
  release();
  expect(taken()).toBe(0);
});
