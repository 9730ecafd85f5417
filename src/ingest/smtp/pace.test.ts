import { expect, test } from 'vitest';
import { HeldPace } from './content.ts';

/** The seconds until it is behind, when every second so many bytes come in; null when it never is, within two hours. */
function secondsUntilBehind(heldBytes: number, bytesPerSecond: number, ahead = 0): number | null {
  const pace = new HeldPace(0);
  pace.add(ahead);
  for (let second = 1; second <= 7200; second++) {
    pace.add(bytesPerSecond);
    if (pace.isBehind(heldBytes, true, second * 1000)) return second;
  }
  return null;
}

const LARGEST = 26_214_400;

test('what a message holds must come in within ten minutes, with a minute to spare', () => {
  expect(secondsUntilBehind(600_000, 1000)).toBeNull();
  expect(secondsUntilBehind(600_000, 0)).toBe(65);
  expect(secondsUntilBehind(600_000, 500)).toBeLessThan(140);
});

test('of nobody more is asked than a line of 100 kbit/s has', () => {
  expect(secondsUntilBehind(LARGEST, 12_500)).toBeNull();
  expect(secondsUntilBehind(LARGEST, 10_000)).toBeNull();
  expect(secondsUntilBehind(LARGEST, 9000)).toBeLessThan(660);
  expect(secondsUntilBehind(LARGEST, 100)).toBeLessThan(70);
});

test('what came before gives no time to stand still', () => {
  expect(secondsUntilBehind(LARGEST, 0, LARGEST - 1)).toBeLessThan(70);
});

test('while it waits for us, or holds nothing, it owes nothing', () => {
  const pace = new HeldPace(0);
  expect(pace.isBehind(LARGEST, false, 3_600_000)).toBe(false);
  expect(pace.isBehind(LARGEST, true, 3_659_000)).toBe(false);
  expect(pace.isBehind(0, true, 7_200_000)).toBe(false);
  expect(pace.isBehind(LARGEST, true, 7_230_000)).toBe(true);
});

test('bytes that are counted late, as small pieces are, are not missed', () => {
  const pace = new HeldPace(0);
  // Thirty bytes a second, told of by four kilobytes.
  for (let second = 1; second <= 3600; second++) {
    if (second % 136 === 0) pace.add(4096);
    expect(pace.isBehind(16_384, true, second * 1000)).toBe(false);
  }
});
