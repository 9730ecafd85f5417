import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTimeWindow, parseTimeWindow } from './route-conditions.ts';

test.each([
  ['mon-fri 08:00-18:00', { days: [1, 2, 3, 4, 5], from: 480, to: 1080 }],
  ['22:00-06:00', { days: [], from: 1320, to: 360 }],
  ['sat,sun', { days: [0, 6], from: 0, to: 1440 }],
  ['fri-mon 12:30-24:00', { days: [0, 1, 5, 6], from: 750, to: 1440 }],
  [' Wed   00:00-00:01 ', { days: [3], from: 0, to: 1 }],
  ['mon-sun', { days: [0, 1, 2, 3, 4, 5, 6], from: 0, to: 1440 }],
])('%j is a time of the week', (text, window) => {
  expect(parseTimeWindow(text)).toEqual(window);
});

test.each([
  '',
  ' ',
  'mon-',
  'mo',
  'xyz',
  'mon 8:00-18:00',
  'mon 08:00',
  '08:00-08:00',
  '24:00-06:00',
  '08:60-09:00',
  '25:00-26:00',
  'mon08:00-09:00',
  'mon,08:00-09:00',
  'mon tue',
  '08:00-18:00 mon',
  'mon-tue-wed',
  'mon 08:00-18:00 +01:00',
])('%j is none', (text) => {
  expect(parseTimeWindow(text)).toBeNull();
});

test('what is written is read as the same time', () => {
  const days = fc
    .uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 7 })
    .map((chosen) => chosen.sort((a, b) => a - b));
  const minute = fc.integer({ min: 0, max: 1439 });
  fc.assert(
    fc.property(days, minute, minute, (chosen, from, to) => {
      fc.pre(from !== to);
      const window = { days: chosen, from, to };
      expect(parseTimeWindow(formatTimeWindow(window))).toEqual(window);
    }),
  );
});

test('no text makes it throw or stall', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'mon-, :0123fr '), maxLength: 5000 }), (text) => {
      parseTimeWindow(text);
    }),
  );
});
