/** What the values of relays' fields may be, beyond the kinds that settings have. */
import { dayOf } from '../domain/quota.ts';
import { type Kind, text } from './kinds.ts';

const MAX_SECRET = 1024;
const MAX_URL = 2048;
const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;

/** A name or password of a next hop. */
export function printable(what: string): Kind<string> {
  const rule = `${what} of 1 to ${MAX_SECRET} characters without control characters`;
  return text(rule, (raw) => raw.length > 0 && raw.length <= MAX_SECRET && !/[\x00-\x1f\x7f]/.test(raw));
}

/** What goes into a header field of HTTP, or signs what goes there. */
export const secretText: Kind<string> = text(
  `1 to ${MAX_SECRET} visible ASCII characters without blanks`,
  (raw) => raw.length <= MAX_SECRET && /^[\x21-\x7e]+$/.test(raw),
);

/** Text that a pattern matches as a whole. */
export function matching(rule: string, pattern: RegExp): Kind<string> {
  return text(rule, (raw) => pattern.test(raw));
}

/**
 * An address of the web without what could hide something: no user, no query, no fragment. Whether it may be plain HTTP
 * is a matter of `allow_private`.
 */
export const webAddress: Kind<string> = text(
  `a URL such as https://api.example.com, of at most ${MAX_URL} characters, without user name, password, query and fragment`,
  isWebAddress,
);

function isWebAddress(raw: string): boolean {
  if (raw.length > MAX_URL || !/^https?:\/\/[\x21-\x7e]+$/.test(raw) || /[?#\\]/.test(raw)) return false;
  if (!URL.canParse(raw)) return false;
  const { username, password, hostname, port } = new URL(raw);
  return (
    username === '' && password === '' && hostname !== '' && port !== '0' && !/^[^/]*\/\/[^/]*@/.test(raw)
  );
}

/** A day in UTC, written `2026-12-01`. */
export const utcDay: Kind<string> = text(
  'a day such as 2026-12-01',
  (raw) => DAY.test(raw) && wallOf(raw) !== null,
);

/** Whole days since the epoch of a text that {@link utcDay} has taken. */
export function dayNumber(day: string): number {
  return dayOf(wallOf(day) ?? 0);
}

function wallOf(day: string): number | null {
  const wall = Date.parse(`${day}T00:00:00Z`);
  // The thirtieth of February is no day, whatever a lenient parser makes of it.
  return Number.isNaN(wall) || new Date(wall).toISOString().slice(0, day.length) !== day ? null : wall;
}
