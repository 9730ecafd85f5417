import { expect, test } from 'vitest';
import { abortSignalOf, Flights, Stop } from './stop.ts';

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

const signal = new AbortController().signal;

/** Work that ends when it is told to, and how often it was begun. */
function work() {
  const begun: { readonly signal: AbortSignal; readonly end: (value: string) => void }[] = [];
  const run = (limit: AbortSignal) =>
    new Promise<string>((resolve) => void begun.push({ signal: limit, end: resolve }));
  return { begun, run };
}

test('what several want at the same time is done once, and anew afterwards', async () => {
  const flights = new Flights<string>();
  const { begun, run } = work();
  const both = [flights.join('a', signal, run), flights.join('a', signal, run)];
  const other = flights.join('b', signal, run);
  expect(begun.length).toBe(2);
  expect(flights.size).toBe(2);
  begun[0]?.end('first');
  begun[1]?.end('other');
  expect(await Promise.all([...both, other])).toEqual(['first', 'first', 'other']);
  expect(flights.size).toBe(0);
  const later = flights.join('a', signal, run);
  begun[2]?.end('second');
  expect(await later).toBe('second');
});

test('it ends when the last who waits for it has given up, and whoever comes then begins anew', async () => {
  const flights = new Flights<string>();
  const { begun, run } = work();
  const [one, two] = [new AbortController(), new AbortController()];
  const first = flights.join('a', one.signal, run);
  const second = flights.join('a', two.signal, run);
  one.abort();
  expect(await first).toBeNull();
  expect(begun[0]?.signal.aborted).toBe(false);
  two.abort();
  expect(await second).toBeNull();
  expect(begun[0]?.signal.aborted).toBe(true);
  const third = flights.join('a', signal, run);
  begun[0]?.end('stale');
  begun[1]?.end('new');
  expect(await third).toBe('new');
});

test('who has given up before begins nothing', async () => {
  const { begun, run } = work();
  expect(await new Flights<string>().join('a', AbortSignal.abort(), run)).toBeNull();
  expect(begun).toEqual([]);
});
