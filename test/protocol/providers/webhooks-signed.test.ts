import type { IncomingHttpHeaders } from 'node:http';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { BODY, endReceivers, type Posting, post, receiver, SECRET } from '../../peers/webhook-receiver.ts';

/** That what is posted is verified by the packages that receivers use, as they come (contract-2 §B3). */

const OLD = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const STRANGER = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const MINUTE = 60_000;

const VERIFIERS = [
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const;

afterEach(endReceivers);

/** What a receiver gets. */
async function received(posting: Posting = {}): Promise<{ body: string; headers: Record<string, string> }> {
  const seen: { headers: IncomingHttpHeaders; body: string }[] = [];
  const url = await receiver(({ headers }, response, body) => {
    seen.push({ headers, body: body.toString() });
    response.writeHead(204).end();
  });
  expect(await post(url, posting)).toMatchObject({ status: 204, error: null });
  const [{ headers, body } = { headers: {}, body: '' }] = seen;
  const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return { headers: flat, body };
}

/** The machine's clock, set forward or back. */
function clockAt(changeMs: number): Clock {
  return {
    ...systemClock,
    wall: () => systemClock.wall() + changeMs,
    mono: () => systemClock.mono(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  };
}

describe.each(VERIFIERS)('by the package %s', (_, Webhook) => {
  test('a post is verified', async () => {
    const { body, headers } = await received();
    expect(body).toBe(BODY.toString());
    expect(() => new Webhook(SECRET).verify(body, headers)).not.toThrow();
  });

  test('it is verified with either secret while two are in force, and with no other', async () => {
    const { body, headers } = await received({ secrets: [SECRET, OLD] });
    for (const secret of [SECRET, OLD]) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
    expect(() => new Webhook(STRANGER).verify(body, headers)).toThrow(/signature/i);
  });

  test('a forged body, id or timestamp is refused', async () => {
    const { body, headers } = await received();
    const webhook = new Webhook(SECRET);
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(() => webhook.verify(body.replace('ü', 'u'), headers)).toThrow(/signature/i);
    expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow(/signature/i);
    expect(() => webhook.verify(body, { ...headers, 'webhook-timestamp': later })).toThrow(/signature/i);
  });

  test('what was posted six minutes ago is refused, and so is what comes from the future', async () => {
    for (const [change, words] of [
      [-6 * MINUTE, /too old/],
      [6 * MINUTE, /too new/],
    ] as const) {
      const { body, headers } = await received({ clock: clockAt(change) });
      expect(() => new Webhook(SECRET).verify(body, headers)).toThrow(words);
    }
  });
});

test('the published example of Standard Webhooks has its published signature', async () => {
  // https://github.com/standard-webhooks/standard-webhooks, the tests of its libraries.
  const at = 1_614_265_330_000;
  const clock: Clock = { ...clockAt(0), wall: () => at };
  const { headers } = await received({
    clock,
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    body: Buffer.from('{"test": 2432232314}'),
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  });
  expect(headers).toMatchObject({
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});
