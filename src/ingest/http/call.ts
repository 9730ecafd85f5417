import type { ProviderName } from '../../domain/drop-in.ts';
import type { Scope } from '../../domain/key.ts';
import type { Exchange } from '../../http/exchange.ts';
import { Problem } from '../../http/problem.ts';
import type { Caller } from '../authenticator.ts';
import { type RateVerdict, type RateWindow, WINDOW_SECONDS } from '../rate.ts';

/** One authenticated request, with everything learned before its endpoint runs. */
export interface Call {
  readonly exchange: Exchange;
  readonly caller: Caller;
  /** The client's address: the peer's, or the one a trusted proxy names. */
  readonly sourceAddress: string;
  /** The provider whose API it is a call of; null: ours. */
  readonly door: ProviderName | null;
  /** Named segments of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Throws the problem 401 when the key is no longer valid: a body may have taken minutes (contract §9). */
  readonly checkKey: () => Promise<void>;
}

/** What an endpoint requires of a key. */
export interface Access {
  readonly scheme: AccessScheme;
  /** Any one of these suffices. */
  readonly scopes: readonly Scope[];
  /** The rate window that counts its requests. */
  readonly window: RateWindow;
}

/**
 * How a request carries its key: `Bearer KEY`; `Basic` with `api:KEY` for clients made for Mailgun; alone in a header of
 * its own, for those made for Postmark; `Basic` with any user name, or `Bearer`, for those made for Mailpit.
 */
export type AuthScheme = 'bearer' | 'basic' | 'postmark' | 'mailpit';

/** `aws4`: a request carries no key, but is signed with a secret that belongs to one. */
export type AccessScheme = AuthScheme | 'aws4';

/** The header with which clients made for Postmark authenticate, in lower case. */
export const POSTMARK_HEADER = 'x-postmark-server-token';

// biome-ignore format: a table
const SCHEMES: Readonly<Record<AuthScheme, { readonly header: string; readonly challenge: string; readonly detail: string }>> = {
  bearer:   { header: 'authorization', challenge: 'Bearer',                detail: 'Send a valid API key: Authorization: Bearer <API_KEY>.' },
  basic:    { header: 'authorization', challenge: 'Basic realm="waybill"', detail: 'Send a valid API key with Basic authentication, user name "api".' },
  postmark: { header: POSTMARK_HEADER, challenge: 'Postmark',              detail: 'Send a valid API key: X-Postmark-Server-Token: <API_KEY>.' },
  mailpit:  { header: 'authorization', challenge: 'Basic realm="waybill"', detail: 'Send a test key as the password of Basic authentication, with any user name, or as Authorization: Bearer <API_KEY>.' },
};

/** The single answer to every refused key, whatever the reason. */
export function unauthorized(scheme: AuthScheme): Problem {
  const { challenge, detail } = SCHEMES[scheme];
  return new Problem(401, 'unauthorized', detail, { headers: { 'WWW-Authenticate': challenge } });
}

/** The secret of a request (RFC 6750 §2.1, RFC 7617 §2), or why it has none. */
export function secretOf(headers: Exchange['headers'], scheme: AuthScheme): Secret {
  const text = headers[SCHEMES[scheme].header]?.toString();
  if (text === undefined) return { ok: false, reason: 'missing' };
  const secret = scheme === 'postmark' ? text : secretIn(text, scheme);
  return secret === null ? { ok: false, reason: 'malformed' } : { ok: true, secret };
}

/** See {@link secretOf}. */
export type Secret =
  | { readonly ok: true; readonly secret: string }
  | { readonly ok: false; readonly reason: 'missing' | 'malformed' };

/** What a request names a key by: its secret, or the access key id of what signs. */
export type NamedKey = { readonly secret: string } | { readonly accessKeyId: string };

/** The key that a request names, however it does; null: none, or not in a form that is known. */
export function namedKey(headers: Exchange['headers']): NamedKey | null {
  const [, accessKeyId] =
    /^AWS4-HMAC-SHA256 .{0,200}?\bCredential=(\w{1,64})\//.exec(headers.authorization ?? '') ?? [];
  if (accessKeyId !== undefined) return { accessKeyId };
  // Mailpit's are the other two, and more.
  for (const scheme of ['postmark', 'mailpit'] as const) {
    const given = secretOf(headers, scheme);
    if (given.ok) return { secret: given.secret };
  }
  return null;
}

/** The secret in an `Authorization` header; null when it carries none. */
function secretIn(authorization: string, scheme: Exclude<AuthScheme, 'postmark'>): string | null {
  const { name, value } = credentialsIn(authorization);
  if (name === 'bearer' && scheme !== 'basic') return value;
  if (name !== 'basic' || scheme === 'bearer') return null;
  const { user, password } = basicIn(value);
  return user === 'api' || scheme === 'mailpit' ? password : null;
}

/** The user name of a request with Basic authentication; null without. */
export function userNameOf({ authorization }: Exchange['headers']): string | null {
  const { name, value } = credentialsIn(authorization ?? '');
  return name === 'basic' ? basicIn(value).user : null;
}

/** The scheme in lower case, and what follows it. */
function credentialsIn(authorization: string): { readonly name: string; readonly value: string } {
  const [, name = '', value = ''] = /^(\w+) +(\S+) *$/.exec(authorization) ?? [];
  return { name: name.toLowerCase(), value };
}

function basicIn(value: string): { readonly user: string; readonly password: string } {
  const [user = '', ...password] = Buffer.from(value, 'base64').toString('latin1').split(':');
  return { user, password: password.join(':') };
}

/** The answer's headers for a rate verdict: the plain ones and the structured fields of the httpapi draft. */
export function rateHeaders(verdict: RateVerdict): Record<string, string> {
  const { window, limit, remaining, resetSeconds } = verdict;
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
    'RateLimit-Policy': `"${window}";q=${limit};w=${WINDOW_SECONDS}`,
    RateLimit: `"${window}";r=${remaining};t=${resetSeconds}`,
  };
}

/** The header of a refusal. */
export function retryAfter({ resetSeconds }: RateVerdict): Record<string, string> {
  return { 'Retry-After': String(resetSeconds) };
}
