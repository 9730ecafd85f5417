/**
 * A certificate that is ordered from an authority by ACME (RFC 8555): when it is renewed, and when to try again after a
 * failure. Times are wall ms.
 */

/** The kinds of keys that certificates are ordered for. */
export const KEY_TYPES = ['ec-256', 'ec-384', 'rsa-2048', 'rsa-4096'] as const;

/** See {@link KEY_TYPES}. */
export type KeyType = (typeof KEY_TYPES)[number];

/** The kinds of challenges that we answer (RFC 8555 §8.3, RFC 8737). */
export const CHALLENGE_KINDS = ['http-01', 'tls-alpn-01'] as const;

/** See {@link CHALLENGE_KINDS}. */
export type ChallengeKind = (typeof CHALLENGE_KINDS)[number];

/** What an authority is answered when it asks whether a name is ours. */
export interface ChallengeAnswer {
  readonly kind: ChallengeKind;
  /** The host name. */
  readonly name: string;
  readonly token: string;
  readonly keyAuthorization: string;
}

/** From when to when a certificate is valid. */
export interface CertificateLife {
  readonly notBefore: number;
  readonly notAfter: number;
}

/** When the authority suggests to renew (ARI, RFC 9773 §4.2). */
export interface RenewalWindow {
  readonly start: number;
  readonly end: number;
  /** A page that says why; null: none is given. */
  readonly explanation: string | null;
}

/** What the authority suggested, and what we made of it. */
export interface RenewalAdvice {
  readonly window: RenewalWindow;
  /** A time in the window, drawn once for each window: a new draw with every look would end up at its beginning. */
  readonly drawnAt: number;
  /** When to ask it again. */
  readonly askAgainAt: number;
}

/** Why the last order failed. */
export interface OrderFault {
  readonly at: number;
  /** Which kind of fault, such as `rate_limited`; see {@link ORDER_FAULTS}. */
  readonly code: OrderFaultCode;
  /** What happened, as the authority or the network says it. */
  readonly message: string;
}

/** What is known of the present certificate's renewal. */
export interface RenewalState {
  /** Orders that failed since the last one that did not. */
  readonly failures: number;
  /** No order before this; null: at any time. */
  readonly notBefore: number | null;
  /** Why the last order failed; null: it did not. */
  readonly fault: OrderFault | null;
  /** What the authority suggests for the present certificate; null: nothing. */
  readonly advice: RenewalAdvice | null;
}

/** Nothing has been ordered yet, or all is well. */
export const FRESH_STATE: RenewalState = { failures: 0, notBefore: null, fault: null, advice: null };

/** A number in [0, 1). */
export type Draw = () => number;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const FIRST_RETRY_MS = 5 * MINUTE_MS;
/** Let's Encrypt lets an account fail five times an hour for a name: the third retry is beyond that hour. */
const RETRY_GROWTH = 3;
const LONGEST_RETRY_MS = 12 * HOUR_MS;
/** An authority may ask for more patience than we would have, but not for ever. */
const LONGEST_WAIT_MS = 7 * DAY_MS;
/** Retries are earlier by up to this share, so that servers that failed together do not return together. */
const JITTER = 0.1;
/** How often ARI is asked where the authority does not say, and how often at most and at least. */
const ASK_MS = 6 * HOUR_MS;
const SHORTEST_ASK_MS = MINUTE_MS;
const LONGEST_ASK_MS = DAY_MS;
/** With fewer days left, the end of a certificate is warned of: by health, the doctor and the dashboard. */
export const SOON_DAYS = 14;
/** A certificate with a shorter life is renewed so often that two weeks before its end are no warning. */
const SHORT_LIFE_MS = 28 * DAY_MS;
/** Whatever the authority suggests, this share of the life is left for retries. */
const SPARE_SHARE = 1 / 20;

/** When the certificate is to be renewed: as advised, else once only `leftPercent` of its life are left. */
export function renewalTime(
  life: CertificateLife,
  leftPercent: number,
  advice: RenewalAdvice | null,
): number {
  const length = life.notAfter - life.notBefore;
  if (advice === null) return life.notAfter - (length * leftPercent) / 100;
  return Math.min(advice.drawnAt, life.notAfter - length * SPARE_SHARE);
}

/** Whether a certificate is meant to be so short that its end is no warning, and its renewal goes well. */
export function isShortAndWell(life: CertificateLife, renewal: RenewalState): boolean {
  return life.notAfter - life.notBefore < SHORT_LIFE_MS && renewal.failures === 0;
}

/** Whether to warn of a certificate's end. `renewal`: of one that was ordered; null for others. */
export function endsSoon(life: CertificateLife, renewal: RenewalState | null, now: number): boolean {
  const left = life.notAfter - now;
  if (left < 0) return true;
  return left < SOON_DAYS * DAY_MS && !(renewal !== null && isShortAndWell(life, renewal));
}

/** The advice after the authority was asked. A window that has not changed keeps the time that was drawn. */
export function advised(
  former: RenewalAdvice | null,
  window: RenewalWindow,
  retryAfterMs: number | null,
  now: number,
  draw: Draw,
): RenewalAdvice {
  const isKnown = former?.window.start === window.start && former.window.end === window.end;
  const drawnAt = isKnown ? former.drawnAt : window.start + draw() * (window.end - window.start);
  return { window, drawnAt, askAgainAt: now + askAgainMs(retryAfterMs) };
}

/** How long to wait until the authority is asked again for its advice. */
export function askAgainMs(retryAfterMs: number | null): number {
  return Math.min(Math.max(retryAfterMs ?? ASK_MS, SHORTEST_ASK_MS), LONGEST_ASK_MS);
}

/** The state after an order failed; `retryAfterMs`: how long the authority wants to be left alone. */
export function afterFailure(
  state: RenewalState,
  fault: OrderFault,
  retryAfterMs: number | null,
  draw: Draw,
): RenewalState {
  const failures = state.failures + 1;
  const grown = Math.min(FIRST_RETRY_MS * RETRY_GROWTH ** (failures - 1), LONGEST_RETRY_MS);
  const own = grown * (1 - draw() * JITTER);
  const asked = Math.min(retryAfterMs ?? 0, LONGEST_WAIT_MS);
  return { ...state, failures, fault, notBefore: Math.round(fault.at + Math.max(own, asked)) };
}

/** When the next order is due: the renewal, or at once where nothing fits, but not before a retry may be made. */
export function orderTime(renewAt: number | null, { notBefore }: RenewalState, now: number): number {
  return Math.max(renewAt ?? now, notBefore ?? 0);
}

/** What went wrong with an order. */
export type OrderFaultCode = keyof typeof ORDER_FAULTS;

/** The faults of orders, each with what an operator can do. */
// biome-ignore format: a table
export const ORDER_FAULTS = {
  terms_not_agreed: 'Read the terms of the authority, and set tls.acme.agree_terms.',
  account_binding: 'Set tls.acme.eab_key_id and tls.acme.eab_hmac to what the authority gave you.',
  account_refused: 'Check tls.acme.contact, and whether the authority has closed the account.',
  name_refused: 'The authority does not certify this name: check tls.acme.domains.',
  caa_forbids: 'Add the authority to the CAA records of the domain, or remove them.',
  dns_failed: 'Let the A and AAAA records of the name lead to this server, and check that its DNS answers.',
  not_reached: 'The authority must reach this server under this name: http-01 at port 80, tls-alpn-01 at port 443. Check the firewall, and what forwards these ports.',
  challenge_failed: 'Something else answers under this name. Let its A and AAAA records lead to this server, and its ports be forwarded.',
  rate_limited: 'Nothing is to be done: it is ordered again when the authority allows it.',
  challenge_not_offered: 'The authority does not offer this kind of challenge: set another tls.acme.challenge.',
  authority_away: 'Check that this server reaches the authority (tls.acme.directory), and its status page.',
  authority_not_trusted: 'If the authority is your own, give its root certificate in tls.acme.ca_file.',
  authority_slow: 'Nothing is to be done: it is ordered again later.',
  authority_failed: 'Nothing is to be done: it is ordered again later. If it lasts, ask the authority.',
  certificate_unfit: 'Ask the authority: what it issued cannot be used, and the present certificate stays.',
  order_failed: 'See the message. The present certificate stays in use, and it is ordered again later.',
} as const;
