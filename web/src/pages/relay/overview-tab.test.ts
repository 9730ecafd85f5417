import { expect, test } from 'vitest';
import { dayOf, limitRows } from './overview-tab.tsx';

const USUAL = { maxConcurrency: 20, maxRatePerSecond: 0, maxPerDomain: null } as const;

test('limits are figures, and where there is none it is said', () => {
  const limits = { ...USUAL, maxRecipients: 100, maxMessageBytes: 0 };
  expect(limitRows({ limits, maxPerDay: 0 })).toEqual({
    'Attempts at once': '20',
    'Attempts a second': 'no limit',
    'Recipients at once': '100',
    'Largest message': 'no limit',
    'Recipients a day': 'no limit',
  });
  const narrow = { ...limits, maxPerDomain: 5, maxRatePerSecond: 2, maxMessageBytes: 1_048_576 };
  expect(limitRows({ limits: narrow, maxPerDay: 5000 })).toMatchObject({
    'At once to one domain': '5',
    'Attempts a second': '2',
    'Largest message': '1.0 MiB',
    'Recipients a day': '5,000',
  });
  expect(limitRows({ limits: null, maxPerDay: 0 })).toEqual({});
});

test.each([
  [{ usedToday: 1200, allowedToday: 5000 }, ['1,200', 'of 5,000 recipients']],
  [{ usedToday: null, allowedToday: 50 }, ['0', 'of 50 recipients']],
  [{ usedToday: null, allowedToday: null }, ['No limit', 'on recipients a day']],
  [{ usedToday: 7, allowedToday: null }, ['7', 'recipients; there is no limit']],
])('of %j the day is %j', (relay, words) => {
  expect(dayOf(relay)).toEqual(words);
});
