import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMoment } from './moments.ts';

test.each<[string, string | null, string]>([
  ['2026-11-20', null, '2026-11-20T00:00:00.000Z'],
  ['2026/11/20', null, '2026-11-20T00:00:00.000Z'],
  ['2026-1-2', null, '2026-01-02T00:00:00.000Z'],
  ['2026-11-20 9:05', null, '2026-11-20T09:05:00.000Z'],
  ['2026-11-20T11:15:30', null, '2026-11-20T11:15:30.000Z'],
  ['2026-11-20T11:15:30.1234Z', null, '2026-11-20T11:15:30.123Z'],
  ['2026-11-20t11:15:30z', null, '2026-11-20T11:15:30.000Z'],
  ['2026-11-20 11:15 UTC', null, '2026-11-20T11:15:00.000Z'],
  ['2026-11-20T11:15:00+01:00', null, '2026-11-20T10:15:00.000Z'],
  ['2026-11-20T11:15:00-0530', null, '2026-11-20T16:45:00.000Z'],
  ['2026-11-20 11:15', 'Europe/Berlin', '2026-11-20T10:15:00.000Z'],
  ['2026-07-01 11:15', 'Europe/Berlin', '2026-07-01T09:15:00.000Z'],
  // Clocks go from two to three there; the hour between does not exist.
  ['2026-03-29 01:59', 'Europe/Berlin', '2026-03-29T00:59:00.000Z'],
  ['2026-03-29 03:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-11-20T11:15:00Z', 'Europe/Berlin', '2026-11-20T11:15:00.000Z'],
  ['2026-11-20 11:15', 'Mars/Olympus', '2026-11-20T11:15:00.000Z'],
])('%s in %s', (text, timeZone, time) => {
  expect(new Date(readMoment(text, timeZone) ?? 0).toISOString()).toBe(time);
});

test.each([
  '',
  'yesterday',
  '2026',
  '2026-02-30',
  '2026-13-01',
  '0026-11-20',
  '2026-11-20 24:00',
  '2026-11-20 11:60',
  '2026-11-20 11:15:60',
  '20-11-2026',
  '2026-11-20 11',
  '2026-11-20T11:15:00+1',
])('%s is no time', (text) => {
  expect(readMoment(text, null)).toBeNull();
});

const ZONES = ['UTC', 'Europe/Berlin', 'Pacific/Auckland', 'America/St_Johns', 'Asia/Kathmandu'];

test('a time is where the clocks of its zone show it', () =>
  fc.assert(
    fc.property(
      fc.integer({ min: Date.UTC(1980, 0), max: Date.UTC(2037, 0) }),
      fc.constantFrom(...ZONES),
      (minute, timeZone) => {
        const time = Math.floor(minute / 60_000) * 60_000;
        const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
        const shown = clock.format(time);
        // Where clocks are set back, two times show the same.
        expect(clock.format(readMoment(shown, timeZone) ?? 0)).toBe(shown);
      },
    ),
  ));
