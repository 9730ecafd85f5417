import { afterEach, expect, test } from 'vitest';
import { ALIGNED } from '../../test/support/alignments.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { START_MS } from '../lib/guarded-thread.ts';
import { NO_WAY } from './contract.ts';
import { Preflighter, type PreflighterLimits } from './preflighter.ts';

let preflighter: Preflighter | null = null;
afterEach(async () => await preflighter?.close());

function start(limits: PreflighterLimits = {}, clock: Clock = systemClock): Preflighter {
  preflighter = new Preflighter(clock, limits);
  return preflighter;
}

const LETTER = Buffer.from('From: a@example.com\r\nSubject: \r\n\r\nHello.\r\n');
const codes = (findings: readonly { readonly code: string }[]) => findings.map(({ code }) => code);

test('a message and a draft are checked in the thread', async () => {
  const checks = start();
  expect(codes(await checks.message(LETTER.length, () => LETTER, NO_WAY, 'key_1'))).toEqual([
    'subject-empty',
  ]);
  const draft = { from: '', subject: '', html: '<p>Hello</p>', text: null };
  expect(codes(await checks.draft(draft))).toEqual(['subject-empty', 'text-missing']);
});

test('what cannot be checked is a finding: too large, too many parts, too many that wait', async () => {
  const checks = start({ maxBytes: 1000, maxWaiting: 1 });
  const unread = () => Promise.reject(new Error('was loaded'));
  expect(codes(await checks.message(1001, unread, NO_WAY, 'key_1'))).toEqual(['unchecked']);
  const held = Promise.withResolvers<Uint8Array>();
  const first = checks.message(LETTER.length, () => held.promise, NO_WAY, 'key_1');
  const [second] = await checks.message(LETTER.length, unread, NO_WAY, 'key_1');
  expect(second?.detail).toMatch(/too many messages/);
  held.resolve(LETTER);
  expect(codes(await first)).toEqual(['subject-empty']);
  expect(codes(await checks.message(LETTER.length, () => LETTER, NO_WAY, 'key_1'))).toEqual([
    'subject-empty',
  ]);
});

test('as many may wait as the documents say: 4 of one key, 64 in all', async () => {
  const checks = start();
  const held = Promise.withResolvers<Uint8Array>();
  const told: string[] = [];
  const ask = (asker: string, name: string) => {
    const answer = checks.message(LETTER.length, () => held.promise, NO_WAY, asker);
    return answer.then((findings) => told.push(`${name} ${codes(findings).join()}`));
  };
  const [first, ...others] = Array.from({ length: 17 }, (_, key) =>
    Array.from({ length: 5 }, (_, place) => ask(`key_${key}`, `${key}.${place}`)),
  );
  const refused = [first?.[4], ...others.slice(0, 15).map((asked) => asked[4]), ...(others[15] ?? [])];
  await Promise.all(refused);
  // Of 16 keys the fifth message, and of the next key every one.
  expect(told).toHaveLength(21);
  expect(told.every((answer) => answer.endsWith(' unchecked'))).toBe(true);
  held.resolve(LETTER);
  await Promise.all([...(first ?? []), ...others.flat()]);
  expect(told.filter((answer) => answer.endsWith(' subject-empty'))).toHaveLength(64);
});

test('what takes too long is ended, and the next message is checked', async () => {
  let late = false;
  const clock: Clock = {
    ...systemClock,
    // The first limit is over as soon as it begins, the next one not even on a busy machine.
    sleep: (ms, signal) => {
      if (ms !== START_MS + 1234) return systemClock.sleep(ms, signal);
      if (late) return systemClock.sleep(60_000, signal);
      late = true;
      return Promise.resolve();
    },
  };
  const checks = start({ timeLimitMs: 1234 }, clock);
  const [slow] = await checks.message(LETTER.length, () => LETTER, NO_WAY, 'key_1');
  expect(slow?.detail).toMatch(/takes too long/);
  expect(codes(await checks.message(LETTER.length, () => LETTER, NO_WAY, 'key_1'))).toEqual([
    'subject-empty',
  ]);
});

test('what is known of the way is told of what cannot be read, too', async () => {
  const hops = [
    { relay: 'out', type: 'smtp' as const, host: null, maxBytes: 10, alignment: ALIGNED, signingCure: null },
  ];
  const found = await start({ maxBytes: 20 }).message(21, () => LETTER, { ...NO_WAY, hops }, 'key_1');
  expect(codes(found)).toEqual(['relay-size', 'unchecked']);
});

test('a fault of loading is the caller’s', async () => {
  const gone = () => Promise.reject(new Error('gone'));
  await expect(start().message(10, gone, NO_WAY, 'key_1')).rejects.toThrow('gone');
});

test('one who has many checked keeps nobody else waiting for more than one of them', async () => {
  const checks = start({ maxOfOne: 3 });
  const order: string[] = [];
  const ask = (asker: string, name: string) =>
    checks.message(
      LETTER.length,
      () => {
        order.push(name);
        return LETTER;
      },
      NO_WAY,
      asker,
    );
  const many = [1, 2, 3, 4].map((number) => ask('hostile', `hostile ${number}`));
  const answers = await Promise.all([...many, ask('ordinary', 'ordinary')]);
  expect(order).toEqual(['hostile 1', 'ordinary', 'hostile 2', 'hostile 3']);
  expect(answers[3]?.[0]?.detail).toMatch(/too many messages of this sender/);
  expect(codes(answers[4] ?? [])).toEqual(['subject-empty']);
  expect(codes(await ask('hostile', 'hostile 5'))).toEqual(['subject-empty']);
});
