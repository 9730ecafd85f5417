/** Kinds of values in relays' fields, beyond those of settings. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { dayOf } from '../domain/quota.ts';
import { type Kind, text } from './kinds.ts';

const MAX_SECRET = 1024;
const MAX_URL = 2048;
const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;

/** A user name or password for a next hop. */
export function printable(what: string): Kind<string> {
  const rule = `${what} of 1 to ${MAX_SECRET} characters without control characters`;
  return text(rule, (raw) => raw.length > 0 && raw.length <= MAX_SECRET && !/[\x00-\x1f\x7f]/.test(raw));
}

/** Text for an HTTP header field, or the key that signs one. */
export const secretText: Kind<string> = text(
  `1 to ${MAX_SECRET} visible ASCII characters without blanks`,
  (raw) => raw.length <= MAX_SECRET && /^[\x21-\x7e]+$/.test(raw),
);

/** Text that a pattern matches as a whole. */
export function matching(rule: string, pattern: RegExp): Kind<string> {
  return text(rule, (raw) => pattern.test(raw));
}

/**
 * A web address without user, query and fragment, which could hide something. `allow_private` decides on plain HTTP.
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

/** Whole days since the epoch of a valid {@link utcDay}. */
export function dayNumber(day: string): number {
  return dayOf(wallOf(day) ?? 0);
}

function wallOf(day: string): number | null {
  const wall = Date.parse(`${day}T00:00:00Z`);
  // 30 February is not a day, even if a lenient parser accepts it.
  return Number.isNaN(wall) || new Date(wall).toISOString().slice(0, day.length) !== day ? null : wall;
}

/** A client's id at an authorization server. */
export const clientId: Kind<string> = text('1 to 255 visible ASCII characters without blanks', (raw) =>
  /^[\x21-\x7e]{1,255}$/.test(raw),
);

/** The form of the ids of Microsoft's applications. */
export const APPLICATION_ID = 'an id of the form 00000000-0000-0000-0000-000000000000';

/** Whether a client's id has the form of a Microsoft application's. */
export function isApplicationId(raw: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(raw);
}

/** A refresh token: Microsoft's have some 1,500 characters. */
export const refreshToken: Kind<string> = text('1 to 4096 visible ASCII characters without blanks', (raw) =>
  /^[\x21-\x7e]{1,4096}$/.test(raw),
);

/** The scope of a token (RFC 6749 §3.3). */
export const scope: Kind<string> = text(
  '1 to 1024 visible ASCII characters, with blanks between scopes',
  (raw) => /^(?=.{1,1024}$)[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(raw),
);

/** The used members of a service account's file. */
export interface ServiceAccount {
  readonly client_email: string;
  readonly private_key_id: string | null;
  /** In PEM. */
  readonly private_key: string;
}

const MAX_ACCOUNT = 16 * 1024;

/** The text of the JSON file that Google gives for a key of a service account. */
export const serviceAccount: Kind<string> = text(
  'the JSON of a key of a service account, with type, client_email and an RSA private_key',
  (raw) => raw.length <= MAX_ACCOUNT && serviceAccountIn(raw) !== null,
);

/** Parses it; null if it is invalid. */
export function serviceAccountIn(raw: string): ServiceAccount | null {
  try {
    const { type, client_email, private_key, private_key_id }: Record<string, unknown> = JSON.parse(raw);
    if (type !== 'service_account' || typeof client_email !== 'string' || typeof private_key !== 'string')
      return null;
    if (createPrivateKey(private_key).asymmetricKeyType !== 'rsa') return null;
    return {
      client_email,
      private_key,
      private_key_id: typeof private_key_id === 'string' ? private_key_id : null,
    };
  } catch {
    return null;
  }
}

/** The key with which SendGrid's events are verified, as its page shows it: SubjectPublicKeyInfo in base64. */
export const verificationKey: Kind<string> = text(
  'a public key over P-256 in base64, as SendGrid shows it',
  isVerificationKey,
);

function isVerificationKey(raw: string): boolean {
  if (!/^[A-Za-z0-9+/]{100,200}={0,2}$/.test(raw)) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(raw, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}
