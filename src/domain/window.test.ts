import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { localReply, type Outcome, type Reply } from './outcome.ts';
import {
  afterNews,
  afterRecipients,
  NO_RECIPIENTS,
  openWindow,
  type PaceNews,
  paceNewsOf,
  type Window,
} from './window.ts';

const FULL = 20;

/** The window after so many attempts that are borne, each begun after the last ended. */
function grown(window: Window, times: number, full = FULL): Window {
  let now = window;
  for (let time = 0; time < times; time++) now = afterNews(now, 'bears', full, 1_000, 2_000);
  return now;
}

const halved = (size: number) => afterNews(openWindow(size), 'too_much', FULL, 0, 10);

describe('the window of a hop', () => {
  test('begins with what is known, and never under one', () => {
    expect([4, 1, 0.5, 0, -3].map((size) => openWindow(size).size)).toEqual([4, 1, 1, 1, 1]);
  });
  test('doubles with each round until it is first too much, up to what is allowed', () => {
    expect(grown(openWindow(2), 2).size).toBe(4);
    expect(grown(openWindow(2), 2 + 4).size).toBe(8);
    expect(grown(openWindow(2), 100).size).toBe(FULL);
  });
  test('grows by one with each round once it has been halved', () => {
    const window = halved(8);
    expect(window.size).toBe(4);
    expect(Math.floor(grown(window, 4).size)).toBe(4);
    expect(Math.floor(grown(window, 5).size)).toBe(5);
    expect(grown(window, 1_000).size).toBe(FULL);
  });
  test('halves to one at the least, and grows from there', () => {
    const window = halved(1);
    expect(window.size).toBe(1);
    expect(grown(window, 1).size).toBe(2);
  });
  test('halves once for what was under way together', () => {
    const once = afterNews(openWindow(16), 'too_much', FULL, 5, 10);
    expect(afterNews(once, 'too_much', FULL, 9, 11)).toBe(once);
    expect(afterNews(once, 'too_much', FULL, 10, 12).size).toBe(4);
  });
  test('halves from what was allowed, when that is less', () => {
    expect(afterNews(openWindow(16), 'too_much', 6, 0, 10).size).toBe(3);
  });
  test('shrinks to what is allowed when that was lowered', () => {
    expect(grown(openWindow(16), 1, 5).size).toBe(5);
  });
  test('does not grow while less than half of it is in use', () => {
    const window = openWindow(8);
    expect(afterNews(window, 'bears', FULL, 0, 1, 3)).toBe(window);
    expect(afterNews(window, 'bears', FULL, 0, 1, 4).size).toBe(9);
    // One at a time proves one, however often.
    let slow = openWindow(1);
    for (let time = 0; time < 1_000; time++) slow = afterNews(slow, 'bears', FULL, 0, 1, 1);
    expect(slow.size).toBeLessThanOrEqual(3);
  });
  test('hears nothing in what says nothing', () => {
    const window = openWindow(8);
    expect(afterNews(window, 'nothing', FULL, 0, 1)).toBe(window);
  });
});

interface Step {
  readonly news: PaceNews;
  readonly full: number;
  readonly lastedMs: number;
  readonly afterMs: number;
  readonly atOnce: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  news: fc.constantFrom<PaceNews>('bears', 'too_much', 'nothing'),
  full: fc.integer({ min: 1, max: 300 }),
  lastedMs: fc.nat(10_000),
  afterMs: fc.nat(5_000),
  atOnce: fc.integer({ min: 1, max: 300 }),
});

test('whatever is heard: never under one; never over what is allowed after news that counts', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 200 }),
      fc.double({ min: 0, max: 50, noNaN: true }),
      (steps, size) => {
        let window = openWindow(size);
        let now = 0;
        for (const { news, full, lastedMs, afterMs, atOnce } of steps) {
          now += afterMs;
          const before = window;
          window = afterNews(before, news, full, now - lastedMs, now, atOnce);
          expect(window.size).toBeGreaterThanOrEqual(1);
          expect(Number.isFinite(window.size)).toBe(true);
          expect(window.size).toBeLessThanOrEqual(Math.max(before.size, full));
          if (news === 'bears') expect(window.size).toBeLessThanOrEqual(full);
          if (news === 'bears' && before.size <= full)
            expect(window.size).toBeGreaterThanOrEqual(before.size);
          if (news === 'too_much') expect(window.size).toBeLessThanOrEqual(before.size);
        }
      },
    ),
  );
});

test('however many of a round are refused, in whatever order, it is halved once', () => {
  const times = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(times, fc.integer({ min: 2, max: 64 }), (ends, size) => {
      // All began at 0, before the first of them ended.
      const window = [...ends]
        .sort((a, b) => a - b)
        .reduce((now, end) => afterNews(now, 'too_much', 64, 0, end + 1), openWindow(size));
      expect(window.size).toBe(size / 2);
    }),
  );
});

test('a hop that bears so many is found, and stays so, within a few rounds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 30 }), (bears, initial) => {
      let window = openWindow(initial);
      for (let round = 0; round < 400; round++) {
        const now = round * 100;
        const atOnce = Math.floor(window.size);
        for (let one = 0; one < atOnce; one++)
          window = afterNews(window, one < bears ? 'bears' : 'too_much', 200, now, now + 50, atOnce - one);
        if (round < 100) continue;
        expect(window.size).toBeGreaterThanOrEqual(Math.max(1, Math.floor(bears / 2)));
        expect(window.size).toBeLessThanOrEqual(bears + 2);
      }
    }),
  );
});

describe('what outcomes say about the pace', () => {
  const reply = (part: Partial<Reply>): Reply => ({ ...localReply('smtp_reply', '4.0.0', ''), ...part });
  const deferred = (part: Partial<Reply>): Outcome => ({ kind: 'deferred', reply: reply(part) });
  const atRcpt = (part: Partial<Reply>): Outcome => ({
    kind: 'deferred',
    reply: reply(part),
    ofRecipient: true,
  });
  const taken: Outcome = {
    kind: 'delivered',
    captured: false,
    reply: reply({ code: 250, enhanced: '2.0.0' }),
    providerMessageId: null,
    dsnPassed: false,
  };
  const refused: Outcome = { kind: 'rejected', reply: reply({ code: 550, enhanced: '5.7.1' }) };
  test.each<[string, readonly Outcome[], PaceNews]>([
    ['taken', [taken], 'bears'],
    ['refused for good, even for a policy', [refused], 'bears'],
    ['refused with 421 for good', [{ kind: 'rejected', reply: reply({ code: 421 }) }], 'bears'],
    ['421', [deferred({ code: 421, enhanced: '4.3.2' })], 'too_much'],
    ['421 without an enhanced code', [deferred({ code: 421, enhanced: null })], 'too_much'],
    ['451 4.7.1', [deferred({ code: 451, enhanced: '4.7.1' })], 'too_much'],
    ['450 4.7.26', [deferred({ code: 450, enhanced: '4.7.26' })], 'too_much'],
    ['429 of a provider', [deferred({ code: 429, enhanced: '4.7.0', cause: 'provider_429' })], 'too_much'],
    [
      'throttling that a provider tells with another status',
      [deferred({ code: 400, enhanced: '4.7.1', cause: 'provider_throttling_exception' })],
      'too_much',
    ],
    [
      'a sender that a provider does not know',
      [deferred({ code: 400, enhanced: '4.7.1', cause: 'provider_not_verified' })],
      'nothing',
    ],
    ['silence to a command', [deferred({ code: null, cause: 'timeout_rcpt' })], 'too_much'],
    ['silence after the end', [{ kind: 'unknown', reply: reply({ cause: 'timeout_dot' }) }], 'too_much'],
    ['a mailbox that is full', [deferred({ code: 452, enhanced: '4.2.2' })], 'nothing'],
    ['4.70.1 is no 4.7', [deferred({ code: 452, enhanced: '4.70.1' })], 'nothing'],
    ['5.7.1 in a deferral is no 4.7', [deferred({ code: 452, enhanced: '5.7.1' })], 'nothing'],
    ['a connection that is refused', [deferred({ code: null, cause: 'connect_refused' })], 'nothing'],
    [
      'no TLS, which we say ourselves',
      [deferred({ code: null, enhanced: '4.7.5', cause: 'tls_failed' })],
      'nothing',
    ],
    ['451 without a reason', [deferred({ code: 451, enhanced: '4.3.0' })], 'too_much'],
    ['450 without a reason', [deferred({ code: 450, enhanced: '4.0.0' })], 'too_much'],
    ['451 4.7.1 at RCPT', [atRcpt({ code: 451, enhanced: '4.7.1' })], 'nothing'],
    ['450 at RCPT', [atRcpt({ code: 450, enhanced: '4.2.0' })], 'nothing'],
    ['451 4.7.1 at RCPT of one, another taken', [atRcpt({ code: 451, enhanced: '4.7.1' }), taken], 'bears'],
    ['421 at RCPT', [atRcpt({ code: 421, enhanced: '4.7.0' })], 'too_much'],
    [
      'a timeout in words of the hop',
      [deferred({ code: 452, cause: 'smtp_reply', text: 'timeout_x' })],
      'nothing',
    ],
    ['one taken, one too much', [taken, deferred({ code: 421 })], 'too_much'],
    ['one taken, one full', [deferred({ code: 452, enhanced: '4.2.2' }), taken], 'bears'],
    ['nobody', [], 'nothing'],
  ])('%s', (_, outcomes, news) => {
    expect(paceNewsOf(outcomes, afterRecipients(NO_RECIPIENTS, outcomes))).toBe(news);
  });
  test('put off at RCPT says that it is too much only when most of the last many recipients are', () => {
    const putOff = [atRcpt({ code: 451, enhanced: '4.7.1' })];
    const newsAfter = (attempts: number, isPutOff: (attempt: number) => boolean) => {
      let recent = NO_RECIPIENTS;
      for (let attempt = 0; attempt < attempts; attempt++)
        recent = afterRecipients(recent, isPutOff(attempt) ? putOff : [taken]);
      return paceNewsOf(putOff, recent);
    };
    expect(newsAfter(19, () => true)).toBe('nothing');
    expect(newsAfter(20, () => true)).toBe('too_much');
    expect(newsAfter(1_000, (attempt) => attempt % 2 === 0)).toBe('nothing');
    expect(newsAfter(1_000, (attempt) => attempt % 3 !== 0)).toBe('too_much');
    // What is long past counts no more.
    expect(newsAfter(1_000, (attempt) => attempt >= 900)).toBe('too_much');
  });
});
