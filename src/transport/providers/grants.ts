/** Requests an access token for each kind of grant (RFC 6749 §4.4 and §6, RFC 7523 §2.1). */
import { sign } from 'node:crypto';
import type { OAuthGrant } from '../../domain/relay.ts';
import { decodeJson, memberOf } from '../../lib/decode.ts';
import type { GivenToken, HttpAnswer, TokenSource } from './provider.ts';

/** RFC 6750 §2.1; Microsoft's have some 2,000 characters. */
const TOKEN = /^[A-Za-z0-9\-._~+/]{1,16384}=*$/;
const REFRESH_TOKEN = /^[\x21-\x7e]{1,4096}$/;
/**
 * The likely lifetime if the server states none (RFC 6749 §5.1). A token that ends earlier is refused, then renewed.
 */
const USUAL_SECONDS = 3600;
/** Lifetime of a service account's assertion: the longest that Google accepts. */
const ASSERTION_SECONDS = 3600;
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Where to request tokens, and which. */
export interface GrantPlace {
  readonly url: string;
  /** See {@link TokenSource}. */
  readonly setting: string;
  /** Null: none. */
  readonly scope: string | null;
}

/** The token source of a grant. A refresh token that comes with a token replaces the grant's, in memory only. */
export function tokenSource(grant: OAuthGrant, { url, setting, scope }: GrantPlace): TokenSource {
  let current = grant;
  return {
    url,
    setting,
    get secrets() {
      return [...new Set([...secretsOf(grant), ...secretsOf(current)])];
    },
    ask: (now) => ({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: [Buffer.from(new URLSearchParams(formOf(current, url, scope, now)).toString())],
    }),
    read: (answer) => {
      const given = readToken(answer);
      if (given === null) return null;
      const next = rotated(current, answer);
      const isRotated = next !== current;
      current = next;
      return { ...given, isRotated };
    },
  };
}

/** The grant with the answer's refresh token; unchanged if there is none. */
function rotated(grant: OAuthGrant, { body }: HttpAnswer): OAuthGrant {
  const refreshToken = memberOf(decodeJson(body), 'refresh_token');
  if (grant.kind !== 'refresh_token' || typeof refreshToken !== 'string') return grant;
  if (refreshToken === grant.refreshToken || !REFRESH_TOKEN.test(refreshToken)) return grant;
  return { ...grant, refreshToken };
}

function formOf(grant: OAuthGrant, url: string, scope: string | null, now: number): Record<string, string> {
  // A refresh token has its scope (RFC 6749 §6): a smaller one is of no use, and some servers refuse it.
  const scoped = scope === null ? {} : { scope };
  switch (grant.kind) {
    case 'client_credentials':
      return {
        client_id: grant.clientId,
        client_secret: grant.secret,
        ...scoped,
        grant_type: 'client_credentials',
      };
    case 'refresh_token':
      return {
        client_id: grant.clientId,
        ...(grant.secret !== null && { client_secret: grant.secret }),
        refresh_token: grant.refreshToken,
        grant_type: 'refresh_token',
      };
    case 'service_account':
      return { grant_type: JWT_BEARER, assertion: assertionOf(grant, url, scope, now) };
  }
}

/** A JWT (RFC 7519) signed with RS256, as Google's service accounts require. */
function assertionOf(
  { account, keyId, privateKey, subject }: Extract<OAuthGrant, { kind: 'service_account' }>,
  url: string,
  scope: string | null,
  now: number,
): string {
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) };
  const iat = Math.floor(now / 1000);
  const claims = {
    iss: account,
    sub: subject,
    ...(scope !== null && { scope }),
    aud: url,
    iat,
    exp: iat + ASSERTION_SECONDS,
  };
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

function secretsOf(grant: OAuthGrant): readonly string[] {
  switch (grant.kind) {
    case 'client_credentials':
      return [grant.secret];
    case 'refresh_token':
      return [grant.refreshToken, ...(grant.secret === null ? [] : [grant.secret])];
    case 'service_account':
      return [grant.privateKey];
  }
}

function readToken({ status, body }: HttpAnswer): Omit<GivenToken, 'isRotated'> | null {
  const answer = status === 200 ? decodeJson(body) : null;
  const token = memberOf(answer, 'access_token');
  if (typeof token !== 'string' || !TOKEN.test(token)) return null;
  // A client that does not know the type must not use the token (RFC 6749 §7.1).
  if (!/^bearer$/i.test(String(memberOf(answer, 'token_type') ?? 'bearer'))) return null;
  const seconds = secondsOf(memberOf(answer, 'expires_in'));
  return seconds > 0 ? { token, forMs: seconds * 1000 } : null;
}

/** A number by the standard (RFC 6749 §5.1), text from some servers; 0 for anything else. */
function secondsOf(value: unknown): number {
  if (value === null) return USUAL_SECONDS;
  if (typeof value === 'string') return /^\d{1,15}$/.test(value) ? Number(value) : 0;
  return typeof value === 'number' ? value : 0;
}
