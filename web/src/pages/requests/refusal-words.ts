import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount } from '../../format.ts';

type Refused = ResultOf<'denials'>[number];

// A file of its own: its tests need no page.

/** What codes mean that only SMTP has, or that mean something else where no key is known; docs/smtp.md has each. */
const OVER_SMTP: Readonly<Record<string, string>> = {
  relay_not_allowed:
    'It may not send to others over SMTP: it signs in with no key, and its address is not allowed.',
  unknown_bounce_address: 'There is no such address in the bounce domain, or no longer.',
  suppressed: 'The recipient is on the suppression list.',
  auth_malformed: 'The password is no key.',
  auth_checksum_wrong: 'The key was mistyped: its checksum is wrong.',
  auth_unknown: 'There is no such key.',
  auth_expired: 'The key has expired.',
  auth_revoked: 'The key is revoked.',
  auth_identity: 'The key may not be used in the name of another.',
  key_changed: 'The key lost its scope, or its address, during the session.',
  auth_too_many_failures: 'Too many wrong keys came from there.',
  auth_required: 'It has to sign in before it sends.',
  tls_required: 'It has to start TLS before it signs in.',
  too_many_connections: 'Too many connections are open.',
  too_many_connections_of_source: 'Too many of its connections are open.',
  proxy_header: 'It is a proxy that sends no header, or a wrong one.',
  too_many_errors: 'It made too many errors, and the session was ended.',
  too_many_commands: 'It sent too many commands, and the session was ended.',
  rate_limited: 'Too many messages or requests came from there in this minute.',
  early_talk: 'It talked before the greeting, and the session was ended.',
  http_after_greeting: 'It spoke HTTP on a port of SMTP.',
  malformed_end: 'It ended a message wrongly, and the session was ended.',
};

/** Why a source was refused, in a sentence; empty where the code has to do. */
export function refusalWords({ reason, meaning }: Pick<Refused, 'reason' | 'meaning'>): string {
  return meaning ?? OVER_SMTP[reason] ?? '';
}

/** The limit that held, and whose it is. */
export function limitWords({ perMinute, usual }: NonNullable<Refused['limit']>): string {
  if (perMinute === 0) return usual ? 'There is no limit now.' : 'The key has no limit now.';
  const much = `${formatCount(perMinute)} a minute`;
  return usual ? `The limit is ${much}, by default.` : `The limit of the key is ${much}.`;
}
