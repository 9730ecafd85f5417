import { expect, test } from 'vitest';
import type { Destination, DestinationPlace } from '../operations/destination.ts';
import { destinationText } from './queue-text.ts';

const AT = '2026-11-20T12:00:00.000Z';

const place = (change: Partial<DestinationPlace>): DestinationPlace => ({
  lane: 'out',
  relay: 'out',
  state: 'paused',
  rest: null,
  waits: [],
  waiting: 1,
  processing: 0,
  since: AT,
  nextAt: AT,
  inFlight: 0,
  concurrency: null,
  perMinute: 0,
  maxPerSecond: null,
  replies: [],
  ...change,
});

const destination = (
  places: readonly DestinationPlace[],
  change: Partial<Destination> = {},
): Destination => ({
  domain: 'example.org',
  provider: null,
  time: AT,
  places,
  messages: 3,
  more: false,
  ...change,
});

test('why mail to a domain is late is a paragraph for each place, without what would steer a terminal', () => {
  const waits = [{ what: 'out is paused', until: null, command: 'waybill queue resume out', resting: null }];
  const reply = { code: 421, enhancedCode: '4.3.2', reply: 'Going \u001b[2J down', at: AT };
  const rest = { cause: 'smtp_reply 421 4.3.2', reply, since: AT, until: AT };
  const replies = [{ reply: 'Later', code: 451, enhancedCode: '4.7.1', recipients: 2, messageId: 'msg_1' }];
  const text = destinationText(
    destination([
      place({ waits }),
      place({ lane: 'mx/example.org', relay: 'mx', state: 'resting', rest, replies, nextAt: null }),
      place({ lane: null, relay: null, state: null, since: null, nextAt: null }),
    ]),
  );
  expect(text.split('\n')).toEqual([
    'out (paused): 1 waiting, 0 under way',
    '  out is paused: waybill queue resume out',
    `  next try: ${AT}`,
    `  oldest accepted: ${AT}`,
    'mx/example.org (resting): 1 waiting, 0 under way',
    expect.stringMatching(/^ {2}rests for: 421 Going \S+\[2J down$/),
    `  oldest accepted: ${AT}`,
    '  2 × 451 Later (msg_1)',
    'without a route: 1 waiting, 0 under way',
  ]);
  expect(text).not.toContain('\u001b');
});

test('that nothing waits is said, and that not all was looked at', () => {
  expect(destinationText(destination([]))).toBe('Nothing waits for example.org.');
  expect(destinationText(destination([], { more: true, messages: 0 }))).toContain('Only the newest messages');
});
