import { expect, test } from 'vitest';
import { acceptedEvent, attemptedEvent, deliveryTo } from '../../test/support/engine-events.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { localReply, type Outcome } from '../domain/outcome.ts';
import { OTHERS, tagsText } from '../domain/traffic.ts';
import { silentLog } from '../lib/log.ts';
import { StoreError } from '../store/store.ts';
import type { ReplyCount, TrafficCount } from '../store/traffic.ts';
import { type Event, Events } from './events.ts';
import { countTraffic } from './traffic-counts.ts';

type Attempted = Extract<Event, { type: 'attempted' }>;
type Result = Attempted['results'][number];

const reply = { code: 250, enhanced: '2.0.0', cause: 'smtp_reply', text: 'taken' };
const done = {
  kind: 'delivered',
  captured: false,
  reply,
  providerMessageId: null,
  dsnPassed: false,
} as const;
const DONE: Omit<Result, 'address'> = { state: 'delivered', outcome: done };
const CAPTURED: Omit<Result, 'address'> = { state: 'delivered', outcome: { ...done, captured: true } };
const LATER: Outcome = {
  kind: 'deferred',
  reply: localReply('connect_refused', '4.4.1', 'mx1.example.org refused'),
};

function counting() {
  const clock = new ManualClock(Date.UTC(2026, 10, 20, 12, 0, 5));
  const events = new Events();
  const kinds: TrafficCount[] = [];
  const replies: ReplyCount[] = [];
  let fails = false;
  const traffic = {
    addTraffic: async (counts: readonly TrafficCount[]) => {
      if (fails) throw new StoreError('store_unavailable', 'as the test wants it');
      kinds.push(...counts);
    },
    addReplies: async (counts: readonly ReplyCount[]) => void replies.push(...counts),
  };
  const relays = { get: (name: string) => ({ relay: { type: name === 'mx' ? 'mx' : 'smtp' } }) };
  const counts = countTraffic({ events, traffic, relays, clock, log: silentLog });
  const accepted = (...addresses: string[]) =>
    events.emit(
      acceptedEvent({
        keyId: 'key_shop',
        deliveries: addresses.map((address) => deliveryTo(address)),
        tags: ['news'],
      }),
    );
  const attempted = (results: readonly Result[], more: Partial<Attempted> = {}) =>
    events.emit(
      attemptedEvent({
        keyId: 'key_shop',
        tags: ['news'],
        acceptedAt: clock.wall() - 3_000,
        host: 'smtp.example.net',
        results,
        ...more,
      }),
    );
  const fail = (value: boolean) => (fails = value);
  return { clock, events, kinds, replies, counts, accepted, attempted, fail };
}

const LOOK_MS = 1_000;

test('mail that is alike is one count, written after a while', async () => {
  const { clock, kinds, accepted, attempted, counts } = counting();
  accepted('a@Example.org', 'b@example.org');
  attempted([
    { address: 'a@Example.org', ...DONE },
    { address: 'b@example.org', state: 'retrying', outcome: LATER },
  ]);
  attempted([{ address: 'b@example.org', ...CAPTURED }], { relay: 'inbox' });
  expect(kinds).toEqual([]);
  await clock.advance(LOOK_MS);
  const of = { domain: 'example.org', provider: '', keyId: 'key_shop', tags: tagsText(['news']) };
  expect(kinds).toMatchObject([
    { ...of, relay: 'out', sums: { accepted: 2, delivered: 1, deferred: 1, captured: 0 } },
    { ...of, relay: 'inbox', sums: { delivered: 0, captured: 1 } },
  ]);
  expect(kinds[0]?.sums.times).toEqual(kinds[0]?.sums.times.map((_, place) => (place === 5 ? 1 : 0)));
  await counts.stop();
  expect(kinds).toHaveLength(2);
});

test('what says nothing of a receiver does not count', async () => {
  const { kinds, replies, attempted, counts } = counting();
  const address = 'a@example.org';
  attempted([{ address, state: 'failed', outcome: LATER, cancelled: true }]);
  attempted([{ address, state: 'retrying', outcome: LATER }], { relay: 'inbox' });
  attempted([{ address, state: 'retrying', outcome: { ...LATER, nextInLine: true } }]);
  await counts.stop();
  expect([kinds, replies]).toEqual([[], []]);
});

test('a mailbox provider shows in the servers of a domain, not in a smarthost', async () => {
  const { kinds, accepted, attempted, counts } = counting();
  attempted([{ address: 'a@shop.example', ...DONE }], { host: 'aspmx.l.google.com' });
  attempted([{ address: 'a@shop.example', ...DONE }], { host: 'aspmx.l.google.com', relay: 'mx' });
  accepted('b@shop.example', 'c@gmail.com');
  await counts.stop();
  expect(kinds.map(({ relay, domain, provider }) => [relay, domain, provider])).toEqual([
    ['out', 'shop.example', ''],
    ['mx', 'shop.example', 'google'],
    ['out', 'shop.example', 'google'],
    ['out', 'gmail.com', 'google'],
  ]);
});

test('what was told, or expired, counts where its message does', async () => {
  const { events, kinds, replies, counts } = counting();
  const of = { keyId: 'key_shop', tags: ['news'] };
  events.emit({
    type: 'expired',
    messageId: 'msg_1',
    ...of,
    recipients: [{ address: 'a@x.org', relay: 'out' }],
  });
  const told = {
    type: 'told',
    kind: 'bounce',
    source: 'dsn',
    verdict: 'matched',
    changed: true,
    messageId: 'msg_1',
    address: 'a@x.org',
    relay: 'out',
    bounce: 'hard',
    entry: null,
  } as const;
  const unknown = { code: 550, enhanced: '5.1.1', cause: 'bounced', text: 'no such user' };
  events.emit({ ...told, counted: { as: 'bounced', ...of, reply: unknown } });
  events.emit({ ...told, counted: { as: 'complained', ...of, reply: null } });
  events.emit({ ...told, counted: null });
  await counts.stop();
  expect(kinds).toMatchObject([{ relay: 'out', sums: { failed: 2, bounced: 1, complained: 1 } }]);
  expect(replies).toMatchObject([
    { group: '550 5.1.1 no such user', bounced: 1, failed: 0, messageId: 'msg_1' },
  ]);
});

test('replies that differ only in details are one count', async () => {
  const { replies, attempted, counts } = counting();
  for (const host of ['mx1', 'mx2']) {
    const outcome = {
      kind: 'deferred',
      reply: localReply('connect_refused', '4.4.1', `${host}.example.org refused`),
    };
    attempted([{ address: 'a@x.org', state: 'retrying', outcome: outcome as Outcome }]);
    attempted([{ address: 'b@x.org', state: 'failed', outcome: outcome as Outcome }]);
  }
  await counts.stop();
  expect(replies).toMatchObject([
    {
      group: 'connect_refused [host] refused',
      deferred: 2,
      failed: 2,
      example: 'connect_refused mx1.example.org refused',
    },
  ]);
});

test('what cannot be written is written later, with what came meanwhile', async () => {
  const { clock, kinds, replies, attempted, fail, counts } = counting();
  const result: Result = { address: 'a@x.org', state: 'retrying', outcome: LATER };
  attempted([result]);
  fail(true);
  await clock.advance(LOOK_MS);
  attempted([result]);
  fail(false);
  await counts.stop();
  expect([kinds[0]?.sums.deferred, replies[0]?.deferred]).toEqual([2, 2]);
});

test('many sums are written every ten seconds', async () => {
  const { clock, kinds, accepted, counts } = counting();
  accepted(...Array.from({ length: 150 }, (_, n) => `a@d${n}.example`));
  await clock.advance(9 * LOOK_MS);
  expect(kinds).toEqual([]);
  await clock.advance(LOOK_MS);
  expect(kinds).toHaveLength(150);
  await counts.stop();
});

test('memory is bounded, however many domains and replies there are', async () => {
  const { kinds, replies, attempted, counts } = counting();
  const results = Array.from({ length: 5_010 }, (_, n): Result => {
    const word = [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
    const text = `it is ${word}`;
    return {
      address: `a@d${n}.example`,
      state: 'failed',
      outcome: { kind: 'rejected', reply: { ...reply, text } },
    };
  });
  attempted(results);
  await counts.stop();
  expect([kinds.length, replies.length]).toEqual([5_001, 1_001]);
  expect(kinds.at(-1)).toMatchObject({ domain: OTHERS, sums: { failed: 10 } });
  expect(replies.at(-1)).toMatchObject({ group: OTHERS, failed: 4_010 });
});
