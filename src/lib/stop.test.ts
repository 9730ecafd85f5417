import { expect, test } from 'vitest';
import { abortSignalOf, Stop } from './stop.ts';

test('everybody who listens is told once, in order, and nobody who does not listen any more', () => {
  const stop = new Stop();
  const told: string[] = [];
  const gone = () => void told.push('gone');
  stop.addEventListener('abort', () => told.push('first'));
  stop.addEventListener('abort', gone);
  stop.addEventListener('abort', () => told.push('second'));
  stop.removeEventListener('abort', gone);
  expect(stop.aborted).toBe(false);
  stop.abort();
  stop.abort();
  stop.addEventListener('abort', () => told.push('late'));
  expect(stop.aborted).toBe(true);
  expect(told).toEqual(['first', 'second']);
});

test('a listener that another one removes is not told', () => {
  const stop = new Stop();
  const told: string[] = [];
  const second = () => void told.push('second');
  stop.addEventListener('abort', () => stop.removeEventListener('abort', second));
  stop.addEventListener('abort', second);
  stop.abort();
  expect(told).toEqual([]);
});

test('an AbortSignal follows it, before and after, and one that is an AbortSignal is itself', () => {
  const stop = new Stop();
  const follows = abortSignalOf(stop);
  expect(follows.aborted).toBe(false);
  stop.abort();
  expect(follows.aborted).toBe(true);
  expect(abortSignalOf(stop).aborted).toBe(true);
  const { signal } = new AbortController();
  expect(abortSignalOf(signal)).toBe(signal);
});
