/**
 * Outcomes on demand (contract-2 §G1). Mail of a test key to addresses such as `bounce@shop.test` is not only captured:
 * what a real receiver would have done is played, so that a program can test what it does then.
 */
import { NO_FACTS, type ToldBounce } from './feedback.ts';
import type { Outcome, Reply } from './outcome.ts';
import type { SettlePolicy } from './settle.ts';
import type { Asking } from './suppression.ts';

/**
 * - `delivered`: it is delivered, as if a next hop had taken it.
 * - `bounce`: delivered, and a second later it bounces.
 * - `soft`: the mailbox is full, at every attempt.
 * - `reject`: refused at the first attempt.
 * - `complain`: delivered, and a second later the recipient calls it spam.
 * - `unsubscribe`: delivered, and a second later the recipient unsubscribes.
 * - `defer`: deferred once, then delivered.
 * - `slow`: delivered after half a minute.
 * - `suppressed`: on the suppression list, so that there is no attempt.
 */
export const TEST_OUTCOMES = [
  'delivered',
  'bounce',
  'soft',
  'reject',
  'complain',
  'unsubscribe',
  'defer',
  'slow',
  'suppressed',
] as const;

/** See {@link TEST_OUTCOMES}. */
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

/** The name ends where no letter follows: `bounce+7@` and `bounce2@` ask for a bounce, `bouncer@` asks for nothing. */
const ASKING = new RegExp(`^(${TEST_OUTCOMES.join('|')})(?!\\p{L})[^@]*@[^@]+\\.(?:test|example)$`, 'iu');

/** What a recipient of a test key's mail asks for; null: nothing. Nobody has an address on these domains (RFC 2606). */
export function testOutcomeOf(address: string): TestOutcome | null {
  const name = ASKING.exec(address)?.[1]?.toLowerCase();
  return TEST_OUTCOMES.find((outcome) => outcome === name) ?? null;
}

/** How one attempt is played. */
export interface PlayedAttempt {
  readonly outcome: Outcome;
  /** What is told of it afterwards; null: nothing. */
  readonly told: PlayedFeedback | null;
}

/** Feedback that is played, {@link FEEDBACK_AFTER_MS} after the delivery. */
export interface PlayedFeedback {
  readonly kind: 'bounce' | 'complaint' | 'unsubscribe';
  /** The way on which such a thing most often comes. */
  readonly source: 'dsn' | 'arf' | 'one_click';
  readonly bounce: ToldBounce;
}

/** How long after the delivery it is told what came of it. */
export const FEEDBACK_AFTER_MS = 1000;

/** What an attempt does for a recipient that asks for `asked`, after so many attempts before. */
export function playAttempt(asked: TestOutcome, attempts: number): PlayedAttempt {
  switch (asked) {
    case 'bounce':
      return { outcome: TAKEN, told: { kind: 'bounce', source: 'dsn', bounce: UNKNOWN_USER } };
    case 'complain':
      return { outcome: TAKEN, told: { kind: 'complaint', source: 'arf', bounce: NO_FACTS } };
    case 'unsubscribe':
      return { outcome: TAKEN, told: { kind: 'unsubscribe', source: 'one_click', bounce: NO_FACTS } };
    case 'soft':
      return { outcome: { kind: 'deferred', reply: FULL, ofRecipient: true }, told: null };
    case 'reject':
      return { outcome: { kind: 'rejected', reply: REFUSED }, told: null };
    case 'defer':
      return attempts === 0
        ? { outcome: { kind: 'deferred', reply: GREYLISTED, ofRecipient: true }, told: null }
        : { outcome: TAKEN, told: null };
    // Of acceptance; a message that ignores the list is delivered.
    case 'suppressed':
    case 'slow':
    case 'delivered':
      return { outcome: TAKEN, told: null };
  }
}

/** Whether a message is stopped as if the suppression list had its recipient, whatever is in it. */
export function isStoppedForTest(address: string, { test, keyId, ignores }: Asking): boolean {
  return test && keyId !== null && !ignores && testOutcomeOf(address) === 'suppressed';
}

/** How long a recipient waits for its first attempt, in ms. */
export function heldBackMs(address: string): number {
  return testOutcomeOf(address) === 'slow' ? SLOW_MS : 0;
}

const SLOW_MS = 30_000;

/** Test runs do not wait half a minute for the first retry, nor two days for the last. */
const HASTE = 60;

/** The policy by which a recipient that asks for an outcome is retried. */
export function hastened(policy: SettlePolicy): SettlePolicy {
  const { firstMs, maxMs, maxAgeMs } = policy;
  return { ...policy, firstMs: firstMs / HASTE, maxMs: maxMs / HASTE, maxAgeMs: maxAgeMs / HASTE };
}

/** When it expires, instead of at `expiresAt` (wall ms), which lies the policy's `maxAgeMs` after its beginning. */
export function hastenedExpiry(expiresAt: number, { maxAgeMs }: SettlePolicy): number {
  return Math.round(expiresAt - maxAgeMs + maxAgeMs / HASTE);
}

function replied(code: number, enhanced: string, text: string): Reply {
  return { code, enhanced, cause: 'smtp_reply', text };
}

const TAKEN: Outcome = {
  kind: 'delivered',
  captured: false,
  reply: replied(250, '2.0.0', 'Played for a test: taken'),
  providerMessageId: null,
  dsnPassed: false,
};
const UNKNOWN_USER: ToldBounce = {
  type: null,
  code: 550,
  enhancedCode: '5.1.1',
  text: 'Played for a test: no such user here',
};
const FULL = replied(452, '4.2.2', 'Played for a test: the mailbox is full');
const REFUSED = replied(550, '5.7.1', 'Played for a test: refused by policy');
const GREYLISTED = replied(451, '4.7.1', 'Played for a test: greylisted, try again later');
