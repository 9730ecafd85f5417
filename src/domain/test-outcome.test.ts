import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bounceTypeOf, bounceTypeOfReply } from './bounce.ts';
import type { SettlePolicy } from './settle.ts';
import {
  hastened,
  hastenedExpiry,
  heldBackMs,
  isStoppedForTest,
  playAttempt,
  TEST_OUTCOMES,
  testOutcomeOf,
} from './test-outcome.ts';

describe('what an address asks for', () => {
  it.each(TEST_OUTCOMES)('%s, alone, with something after it, in any case', (outcome) => {
    for (const local of [outcome, `${outcome}+7`, `${outcome}.a`, `${outcome}-a`, `${outcome}2`])
      for (const domain of ['shop.test', 'shop.example', 'a.b.TEST'])
        expect(testOutcomeOf(`${local}@${domain}`), `${local}@${domain}`).toBe(outcome);
    expect(testOutcomeOf(`${outcome.toUpperCase()}@shop.test`)).toBe(outcome);
  });

  it.each([
    'ann@shop.test',
    'bouncer@shop.test',
    'bounceé@shop.test',
    'software@shop.test',
    'no-bounce@shop.test',
    '"bounce"@shop.test',
    'bounce@test',
    'bounce@.test',
    'bounce@example.com',
    'bounce@shop.tests',
    'bounce@shop.test.example.com',
    'bounce@shop.test@example.com',
    'bounce',
    '',
  ])('nothing: %j', (address) => expect(testOutcomeOf(address)).toBeNull());

  it('is found in linear time, in any text', () => {
    fc.assert(fc.property(fc.string(), (text) => void testOutcomeOf(text)));
    const startedAt = performance.now();
    expect(testOutcomeOf(`bounce${'+'.repeat(1_000_000)}@${'a.'.repeat(500_000)}b`)).toBeNull();
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});

describe('how an attempt is played', () => {
  const kindOf = (outcome: (typeof TEST_OUTCOMES)[number], attempts = 0) => {
    const played = playAttempt(outcome, attempts);
    return [played.outcome.kind, played.told?.kind ?? null];
  };

  it('has each outcome once', () => {
    expect(TEST_OUTCOMES.map((outcome) => [outcome, ...kindOf(outcome)])).toEqual([
      ['delivered', 'delivered', null],
      ['bounce', 'delivered', 'bounce'],
      ['soft', 'deferred', null],
      ['reject', 'rejected', null],
      ['complain', 'delivered', 'complaint'],
      ['unsubscribe', 'delivered', 'unsubscribe'],
      ['defer', 'deferred', null],
      ['slow', 'delivered', null],
      ['suppressed', 'delivered', null],
    ]);
  });

  it('defers once what asks for that, and a full mailbox again and again', () => {
    expect([1, 2].map((attempts) => kindOf('defer', attempts)[0])).toEqual(['delivered', 'delivered']);
    expect([1, 100].map((attempts) => kindOf('soft', attempts)[0])).toEqual(['deferred', 'deferred']);
  });

  it('means for the address what the table of bounces says', () => {
    const told = playAttempt('bounce', 0).told?.bounce;
    expect(bounceTypeOf({ code: told?.code ?? 0, enhanced: told?.enhancedCode ?? '', text: '' })).toBe(
      'hard',
    );
    expect(bounceTypeOfReply(playAttempt('soft', 9).outcome.reply, true)).toBe('soft');
    // Mail to it can be refused again, as nobody is suppressed because of it.
    expect(bounceTypeOfReply(playAttempt('reject', 0).outcome.reply, false)).toBe('block');
  });

  it('holds back what is slow, and stops what asks for that, of test keys alone', () => {
    expect([heldBackMs('slow@shop.test'), heldBackMs('ann@shop.test')]).toEqual([30_000, 0]);
    const asking = { test: true, keyId: 'k1', ignores: false, fromDomain: null, stream: null };
    expect(isStoppedForTest('suppressed@shop.test', asking)).toBe(true);
    expect(isStoppedForTest('ann@shop.test', asking)).toBe(false);
    for (const change of [{ test: false }, { keyId: null }, { ignores: true }])
      expect(isStoppedForTest('suppressed@shop.test', { ...asking, ...change })).toBe(false);
  });

  it('divides all times of retries by 60', () => {
    const policy: SettlePolicy = {
      firstMs: 30_000,
      maxMs: 3_600_000,
      maxAgeMs: 172_800_000,
      ambiguous: 'hold',
    };
    expect(hastened(policy)).toEqual({ firstMs: 500, maxMs: 60_000, maxAgeMs: 2_880_000, ambiguous: 'hold' });
    expect(hastenedExpiry(1_000_000_000 + policy.maxAgeMs, policy)).toBe(1_000_000_000 + 2_880_000);
  });
});
