import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { premises } from '../../../test/support/premises.ts';
import type { Premises } from './premises.ts';
import { quotasCheck } from './relays.ts';

/** A store in which the relay `api` has had so many, and so many wait for it. */
function views(used: number, waiting: number): Premises['views'] {
  // Sound because nothing else is asked of it here.
  return {
    quotaUsed: async () => new Map([['api', used]]),
    lanes: async () => [{ lane: 'api', waiting, processing: 0, oldestDueAt: 1 }],
  } as unknown as Premises['views'];
}

const file = (more: string) =>
  `delivery: { default_relay: api }\nrelays: [{ name: api, type: resend, secret: re_key${more} }]`;
const QUOTA = file(', max_per_day: 3');
const WARM_UP = file(', warmup_start: 2020-01-01, warmup_per_day: [3, 3]');
const LATER = file(', warmup_start: 2099-01-01');

test.each([
  ['no quota', file(''), views(0, 0), 'ok quotas: No relay has a daily limit'],
  ['something is left', QUOTA, views(2, 5), 'ok quotas: No relay has used up'],
  [
    'mail waits',
    QUOTA,
    views(3, 5),
    'warn quota of api: api has used up .*quota of 3 .* 5 deliveries wait .*midnight UTC',
  ],
  ['nothing waits', QUOTA, views(3, 0), 'ok quota of api: api has used up .*quota of 3 .*no delivery waits'],
  ['a warm-up that is over', WARM_UP, views(3, 5), 'ok quotas: No relay has used up'],
  ['a warm-up that begins later is told elsewhere', LATER, views(0, 5), 'ok quotas: No relay has used up'],
  ['no database', QUOTA, null, 'skipped quotas'],
])('%s', async (_, text, store, expected) => {
  const [finding, ...others] = await quotasCheck(
    premises({ file: text, views: store }),
    new AbortController().signal,
  );
  expect(others).toEqual([]);
  expect(`${finding?.status} ${finding?.name}: ${finding?.found}`).toMatch(new RegExp(`^${expected}`));
});

test('a step of a warm-up is no fault', async () => {
  const clock = new ManualClock(Date.UTC(2020, 0, 1));
  const found = await quotasCheck(
    premises({ file: WARM_UP, views: views(3, 5), clock }),
    new AbortController().signal,
  );
  expect(found).toMatchObject([
    { status: 'ok', found: expect.stringMatching(/api has used up .*quota of 3/) },
  ]);
});
