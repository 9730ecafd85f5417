import { expect, test } from 'vitest';
import {
  formatAhead,
  formatBytes,
  formatChange,
  formatClock,
  formatDuration,
  formatMoment,
  formatOffset,
  formatRate,
  formatRelative,
  formatShort,
  formatStep,
  formatWithin,
  plural,
  timeQuery,
} from './format.ts';

test.each([
  [0, '0 B'],
  [812, '812 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [5_018, '4.9 KiB'],
  [150 * 1024, '150 KiB'],
  [1.25 * 1024 ** 3, '1.3 GiB'],
  [3 * 1024 ** 6, '3072 PiB'],
])('%d bytes are %s', (bytes, written) => {
  expect(formatBytes(bytes)).toBe(written);
});

test.each([
  [0.4, '0 ms'],
  [340, '340 ms'],
  [2_449, '2.4 s'],
  [9_960, '10 s'],
  [59_600, '1 min'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [356_400_000, '4 d 3 h'],
])('%d ms are %s', (ms, written) => {
  expect(formatDuration(ms)).toBe(written);
});

test.each([
  [0, '+0 ms'],
  [40, '+40 ms'],
  [300, '+0.3 s'],
  [999, '+1.0 s'],
  [300_000, '+5 min'],
])('an event %d ms after another is %s', (ms, written) => {
  expect(formatOffset(ms)).toBe(written);
});

test.each([
  [0, 'just now'],
  [-4_000, 'just now'],
  [-5_000, '5 s ago'],
  [-185_000, '3 min ago'],
  [7_200_000, 'in 2 h'],
  [-4 * 86_400_000, '4 d ago'],
  [60.5 * 86_400_000, 'in 60 d'],
  [-70 * 86_400_000, '2 months ago'],
  [-800 * 86_400_000, '2 years ago'],
])('%d ms from now is %s', (distance, written) => {
  expect(formatRelative(1e12 + distance, 1e12)).toBe(written);
});

test.each([
  [1, 'in a moment'],
  [4_499, 'in a moment'],
  [4_500, 'in 5 s'],
  [185_000, 'in 3 min'],
])('%d ms still to come are %s', (distance, written) => {
  expect(formatAhead(1e12 + distance, 1e12)).toBe(written);
});

test.each([
  ['UTC', '2026-11-22 00:04:05 UTC'],
  ['Etc/UTC', '2026-11-22 00:04:05 UTC'],
  ['Europe/Berlin', '2026-11-22 01:04:05 CET'],
  ['Asia/Kolkata', '2026-11-22 05:34:05 GMT+5:30'],
  ['America/New_York', '2026-11-21 19:04:05 GMT-5'],
])('a moment is written in %s', (zone, written) => {
  expect(formatMoment(Date.parse('2026-11-22T00:04:05.678Z'), zone)).toBe(written);
});

test('a moment is exact and in UTC', () => {
  expect(formatMoment(Date.parse('2026-11-22T03:04:05.678+02:00'))).toBe('2026-11-22 01:04:05 UTC');
  expect(formatMoment(Number.NaN)).toBe('unknown');
});

test('a clock shows the time of day in the zone that was chosen', () => {
  const at = Date.parse('2026-11-22T23:04:05Z');
  expect(formatClock(at)).toBe('23:04');
  expect(formatClock(at, 'Asia/Kolkata')).toBe('04:34');
});

test('a step of counts is told by its beginning: a day by its date', () => {
  const at = Date.parse('2026-11-22T23:00:00Z');
  expect(formatStep(at, 3600)).toBe('2026-11-22 23:00 UTC');
  expect(formatStep(at, 60, 'Asia/Kolkata')).toBe('2026-11-23 04:30 GMT+5:30');
  expect(formatStep(at, 86_400)).toBe('2026-11-22');
});

test.each([
  [950, '950'],
  [12_340, '12.3k'],
  [1_200_000, '1.2M'],
])('%d is %s for short', (count, written) => {
  expect(formatShort(count)).toBe(written);
});

test('one is not many', () => {
  expect([plural(1, 'message'), plural(1200, 'message')]).toEqual(['1 message', '1,200 messages']);
  expect([plural(1, 'entry', 'entries'), plural(0, 'entry', 'entries')]).toEqual(['1 entry', '0 entries']);
});

test.each([
  [112, 100, '+12 %'],
  [97, 100, '−3 %'],
  [1000, 1000, '±0 %'],
  [5, 0, null],
])('%d after %d is %s', (now, before, written) => {
  expect(formatChange(now, before)).toBe(written);
});

test.each([
  [null, '–'],
  [0, '0 %'],
  [0.000001, '< 0.01 %'],
  [0.0008, '0.08 %'],
  [0.042, '4.2 %'],
  [0.369, '37 %'],
  [570 / 571, '99.8 %'],
  [0.9999, '99.9 %'],
  [1, '100 %'],
])('%j is written %j', (rate, text) => {
  expect(formatRate(rate)).toBe(text);
});

test('the time within which mail was delivered is not told more closely than it is known', () => {
  expect([50, 100, 250, 61_000].map((ms) => formatWithin(ms))).toEqual([
    '< 0.1 s',
    '< 0.1 s',
    '250 ms',
    '1 min 1 s',
  ]);
});

test('where nothing was delivered there is no such time', () => {
  expect(formatWithin(null)).toBe('–');
});

test('the messages of a time are asked for as the search reads it', () => {
  const from = Date.UTC(2026, 10, 20, 12);
  expect(timeQuery(from, from + 90_500)).toBe('after:2026-11-20T12:00:00Z before:2026-11-20T12:01:30.500Z');
});
