/**
 * How many attempts at once a next hop has proved to sustain. The window grows by what the hop accepts while it is in
 * use. It halves if the hop says that this is too much (421, 429, or 450, 451 and 4.7.x for the session or the message)
 * or does not answer in time; it is never below one. What a hop says about one recipient at RCPT, as greylisting does,
 * counts only if most recipients are told so. Times are monotonic milliseconds.
 */
import type { Outcome, Reply } from './outcome.ts';

/** See above. */
export interface Window {
  /** Attempts at once; fractional while it grows. */
  readonly size: number;
  /** Below this the window doubles each round, above it grows by one. */
  readonly threshold: number;
  /** Attempts that began before this do not count against the present size: it was halved since. */
  readonly halvedAt: number;
}

/** What an attempt says about the concurrency. */
export type PaceNews =
  /** The hop accepted it, or refused it permanently: it sustains this. */
  | 'bears'
  /** It said that this is too much, or did not answer in time. */
  | 'too_much'
  /** Nothing. */
  | 'nothing';

/** A window that starts with `size`: what is known of the hop, or the default. */
export function openWindow(size: number): Window {
  return { size: Math.max(1, size), threshold: Number.POSITIVE_INFINITY, halvedAt: Number.NEGATIVE_INFINITY };
}

/**
 * The window after an attempt that began at `startedAt` (monotonic ms), at most `full`. `atOnce`: how many were under
 * way when it ended, itself included. A window less than half used does not grow, since the hop has not proved to
 * sustain it.
 */
export function afterNews(
  window: Window,
  news: PaceNews,
  full: number,
  startedAt: number,
  now: number,
  atOnce: number = Number.POSITIVE_INFINITY,
): Window {
  if (news === 'nothing') return window;
  if (news === 'bears') {
    // The limit of a hop may be lowered while it is in use.
    if (window.size >= full) return window.size > full ? { ...window, size: Math.max(1, full) } : window;
    if (atOnce * 2 < window.size) return window;
    const growth = window.size < window.threshold ? 1 : 1 / window.size;
    return { ...window, size: Math.min(full, window.size + growth) };
  }
  // Attempts that were under way together are refused together: that counts once.
  if (startedAt < window.halvedAt) return window;
  const size = Math.max(1, Math.min(window.size, full) / 2);
  return { size, threshold: size, halvedAt: now };
}

/** What recent attempts were told about their recipients; the older half is forgotten now and then. */
export interface RecipientTally {
  readonly attempts: number;
  readonly recipients: number;
  /** Recipients deferred at RCPT as by a hop that is too busy, or that greylists. */
  readonly putOff: number;
}

/** For a hop that was not asked yet. */
export const NO_RECIPIENTS: RecipientTally = { attempts: 0, recipients: 0, putOff: 0 };
/** Fewer attempts cannot tell a hop that is too busy from one that defers a few recipients. */
const MANY_ATTEMPTS = 20;

/** The tally after another attempt. */
export function afterRecipients(tally: RecipientTally, outcomes: readonly Outcome[]): RecipientTally {
  const recipients = outcomes.filter(({ reply }) => reply.code !== null).length;
  if (recipients === 0) return tally;
  const kept = tally.attempts < 2 * MANY_ATTEMPTS ? 1 : 0.5;
  return {
    attempts: tally.attempts * kept + 1,
    recipients: tally.recipients * kept + recipients,
    putOff: tally.putOff * kept + outcomes.filter(isPutOffAtRcpt).length,
  };
}

/** What the outcomes of one attempt say about the concurrency; `recent` already counts them. */
export function paceNewsOf(outcomes: readonly Outcome[], recent: RecipientTally): PaceNews {
  const mostArePutOff = recent.attempts >= MANY_ATTEMPTS && recent.putOff * 2 > recent.recipients;
  if (outcomes.some((outcome) => isTooMuch(outcome) || (mostArePutOff && isPutOffAtRcpt(outcome))))
    return 'too_much';
  return outcomes.some(({ kind }) => kind === 'delivered' || kind === 'rejected') ? 'bears' : 'nothing';
}

/** Whether the hop itself said that this was too much. */
export function saidTooMuch(outcomes: readonly Outcome[]): boolean {
  return outcomes.some((outcome) => outcome.reply.code !== null && isTooMuch(outcome));
}

/** Providers' codes for too much at once. */
const PROVIDER_TOO_MUCH = /^provider_(?:throttl|too_many_requests)/;

function isTooMuch(outcome: Outcome): boolean {
  const { kind, reply } = outcome;
  if (kind !== 'deferred' && kind !== 'unknown') return false;
  const { code, cause } = reply;
  // Our own verdict on a hop (no TLS, for example) says nothing about the concurrency, except for its silence.
  if (code === null) return cause.startsWith('timeout_');
  // A provider's 4.7.x concerns senders and keys; for the concurrency it has a status of its own, or a code.
  if (cause.startsWith('provider_')) return code === 429 || PROVIDER_TOO_MUCH.test(cause);
  if (code === 421) return true;
  return !(kind === 'deferred' && outcome.ofRecipient === true) && isBusy(reply);
}

function isPutOffAtRcpt(outcome: Outcome): boolean {
  return outcome.kind === 'deferred' && outcome.ofRecipient === true && isBusy(outcome.reply);
}

/** Whether a busy hop replies like this; it may also mean a policy (RFC 3463 §3.8). */
function isBusy({ code, enhanced }: Reply): boolean {
  return code === 450 || code === 451 || enhanced?.startsWith('4.7.') === true;
}
