import { Problem } from '../../http/problem.ts';

/** How a request carries its key: `Bearer KEY`, or `Basic` with `api:KEY` for clients made for Mailgun. */
export type AuthScheme = 'bearer' | 'basic';

/** The one answer to every key that is not accepted, whatever the reason. */
export function unauthorized(scheme: AuthScheme): Problem {
  const challenge = scheme === 'bearer' ? 'Bearer' : 'Basic realm="waybill"';
  const detail =
    scheme === 'bearer'
      ? 'Send a valid API key: Authorization: Bearer <API_KEY>.'
      : 'Send a valid API key with Basic authentication, user name "api".';
  return new Problem(401, 'unauthorized', detail, { headers: { 'WWW-Authenticate': challenge } });
}

/** The secret in an `Authorization` header (RFC 6750 §2.1, RFC 7617 §2); null when it carries none. */
export function secretIn(authorization: string, scheme: AuthScheme): string | null {
  const match = /^(\w+) +(\S+) *$/.exec(authorization);
  const [, name = '', value = ''] = match ?? [];
  if (name.toLowerCase() !== scheme) return null;
  if (scheme === 'bearer') return value;
  const [user, ...password] = Buffer.from(value, 'base64').toString('latin1').split(':');
  return user === 'api' ? password.join(':') : null;
}
