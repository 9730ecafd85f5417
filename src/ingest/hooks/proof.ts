import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * How a provider proves that a webhook is its own, besides the token in the path (contract-2 §A4). Every proof is over
 * the bytes as they came, so it is checked before anything else is read of them.
 */

/** A request to a hook, its body whole. */
export interface HookRequest {
  /** By lower-case name, as `node:http` gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Whether a webhook is the provider's own. `why` is for the log: the other side learns the status alone. */
export type Proof =
  | { readonly kind: 'proven' }
  | { readonly kind: 'bad'; readonly status: BadStatus; readonly why: string }
  /** It cannot be told now: 503, and the provider repeats. */
  | { readonly kind: 'unavailable'; readonly why: string };

/** 400: not what the provider sends; 404: the hook has no settings; 406: a bad proof that Mailgun must not repeat. */
type BadStatus = 400 | 401 | 404 | 406 | 413;

/** Clocks may differ by this much, and a request may take as long. */
const SKEW_MS = 300_000;
/** How old the timestamp may be where a repeat carries a new one. */
export const ANEW_MS = SKEW_MS;
/** How old the timestamp may be where a repeat carries the old one: as long as providers repeat. */
export const REPEATED_MS = 86_400_000;
const SECONDS = /^[0-9]{1,12}$/;

export const PROVEN: Proof = { kind: 'proven' };
/** The hook lacks a setting: without it, the token would be the only proof. */
export const NO_HOOK: Proof = { kind: 'bad', status: 404, why: 'the hook has no settings' };

/** A bad proof. */
export function bad(status: BadStatus, why: string): Proof {
  return { kind: 'bad', status, why };
}

/** A header that was sent once; null without it. */
export function headerOf({ headers }: HookRequest, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

/** Whether two secrets are the same, in a time that tells nothing of either, nor of their lengths. */
export function isSame(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

function digestOf(secret: string | Uint8Array): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Wall ms of a timestamp in seconds as a header has it; null if it is none. */
export function secondsIn(text: string | null): number | null {
  return text !== null && SECONDS.test(text) ? Number(text) * 1000 : null;
}

/** Whether a timestamp is at most `maxAgeMs` old and not from the future, as far as clocks agree. All in wall ms. */
export function isFresh(at: number | null, now: number, maxAgeMs: number): boolean {
  return at !== null && now - at <= maxAgeMs && at - now <= SKEW_MS;
}
