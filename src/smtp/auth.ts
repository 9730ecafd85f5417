import type { AuthMode } from '../domain/relay.ts';
import { type Mechanism, mayGoAlong } from './command.ts';
import type { SmtpReply } from './reply.ts';

/** AUTH from the client's side (RFC 4954): which mechanism to use, what to send, how to cure a refusal. Pure. */

/** The credentials for AUTH. */
export interface Credentials {
  readonly username: string;
  /** The password, or with `xoauth2` the access token. */
  readonly secret: string;
  /** Absent: PLAIN or LOGIN, whichever is offered. */
  readonly auth?: AuthMode;
}

/** The server of the session, which OAUTHBEARER names (RFC 7628 §3.1). */
export interface AuthPeer {
  readonly host: string;
  readonly port: number;
}

/** How to authenticate. Responses are in base64. */
export interface AuthPlan {
  readonly mechanism: Mechanism;
  /** The initial response sent with AUTH; undefined: the first 334 asks for the first response. */
  readonly initial: string | undefined;
  /** Answers to 334, in order. */
  readonly responses: readonly string[];
  /** Ends an exchange in which the server has explained its refusal of a token; null: not needed. */
  readonly acknowledgement: string | null;
}

/** Chooses among the offered mechanisms; otherwise says why none is usable. */
export function planAuth(
  credentials: Credentials,
  offered: ReadonlySet<string>,
  peer: AuthPeer,
): AuthPlan | { readonly mechanism: null; readonly text: string } {
  const known = MECHANISMS[credentials.auth ?? 'any'];
  const mechanism = known.find((name) => offered.has(name));
  if (mechanism !== undefined) return planOf(mechanism, credentials, peer);
  const [first = '', second] = known;
  const text =
    second === undefined ? `does not offer AUTH ${first}` : `offers neither AUTH ${first} nor AUTH ${second}`;
  return { mechanism: null, text };
}

const MECHANISMS: Readonly<Record<AuthMode | 'any', readonly Mechanism[]>> = {
  any: ['PLAIN', 'LOGIN'],
  plain: ['PLAIN'],
  login: ['LOGIN'],
  xoauth2: ['XOAUTH2', 'OAUTHBEARER'],
};

function planOf(mechanism: Mechanism, credentials: Credentials, peer: AuthPeer): AuthPlan {
  const { username, secret } = credentials;
  switch (mechanism) {
    case 'PLAIN': {
      const response = base64(`\0${username}\0${secret}`);
      const initial = mayGoAlong(mechanism, response) ? response : undefined;
      return { mechanism, initial, responses: initial ? [] : [response], acknowledgement: null };
    }
    case 'LOGIN': {
      const responses = [base64(username), base64(secret)];
      return { mechanism, initial: undefined, responses, acknowledgement: null };
    }
    case 'XOAUTH2':
      return tokenPlan(mechanism, base64(xoauth2(credentials)), '');
    case 'OAUTHBEARER':
      return tokenPlan(mechanism, base64(oauthBearer(credentials, peer)), base64('\x01'));
  }
}

/** Microsoft's tokens are no initial response: they are too long, and its documents ask for them by an empty 334. */
function tokenPlan(mechanism: Mechanism, response: string, acknowledgement: string): AuthPlan {
  const initial = mayGoAlong(mechanism, response) ? response : undefined;
  return { mechanism, initial, responses: [response], acknowledgement };
}

function xoauth2({ username, secret }: Credentials): string {
  return `user=${username}\x01auth=Bearer ${secret}\x01\x01`;
}

/** RFC 7628 §3.1, with the user as the authorization identity (RFC 5801 §4). */
function oauthBearer({ username, secret }: Credentials, { host, port }: AuthPeer): string {
  const identity = username.replaceAll('=', '=3D').replaceAll(',', '=2C');
  return `n,a=${identity},\x01host=${host}\x01port=${port}\x01auth=Bearer ${secret}\x01\x01`;
}

/** Every form in which credentials are sent, before encoding. */
function sentForms(credentials: Credentials): readonly string[] {
  const { username, secret, auth } = credentials;
  if (auth !== 'xoauth2') return [secret, base64(secret), base64(`\0${username}\0${secret}`)];
  // The base64 form depends on how many bytes precede it.
  return [secret, base64(secret), base64(` ${secret}`), base64(`  ${secret}`)];
}

const MAX_CHALLENGE = 500;

/** The JSON members of a 334 to a token, which explain its refusal: `status 401, schemes bearer`. Null without JSON. */
export function challengeOf({ code, lines }: SmtpReply): string | null {
  if (code !== 334) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(lines.join(''), 'base64').toString('utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const members = Object.entries(value).filter(([, member]) => typeof member === 'string' && member !== '');
    return members
      .map(([name, member]) => `${name} ${member}`)
      .join(', ')
      .replace(/[\p{C}\p{Z}]+/gu, ' ')
      .slice(0, MAX_CHALLENGE);
  } catch {
    return null;
  }
}

/**
 * Exchange Online refuses passwords: `550 5.7.30 Basic authentication is not supported for Client Submission`. The code
 * alone could be Gmail's, where it concerns a signature.
 */
export function refusesPasswords({ enhanced, text }: SmtpReply): boolean {
  return enhanced === '5.7.30' && /basic auth/i.test(text);
}

/** What to do where passwords are no longer accepted. */
export const PASSWORD_CURE =
  'Microsoft no longer accepts passwords for SMTP: give the relay auth: xoauth2 with preset: microsoft (docs/relays.md, “Microsoft 365”)';

/** A server's words as a sentence, followed by the advice; null: none is known. */
export function withCure(said: string, cure: string | null): string {
  return cure === null ? said : `${said.replace(/[. ]+$/, '')}. What to do: ${cure}`;
}

/** The advice on a refused AUTH; null if the server’s own words are the best there are. */
export function authCure(reply: SmtpReply, { auth, username }: Credentials): string | null {
  const isToken = auth === 'xoauth2';
  if (!isToken && reply.code === 550 && reply.enhanced === '5.7.30') return PASSWORD_CURE;
  // Exchange with basic authentication already switched off: 535 5.7.139 Authentication unsuccessful, basic
  // authentication is disabled.
  if (!isToken && /basic authentication is disabled/i.test(reply.text)) return PASSWORD_CURE;
  if (/SmtpClientAuthentication is disabled/i.test(reply.text))
    return `SMTP AUTH is off for the mailbox or the tenant: Set-CASMailbox -Identity ${username} -SmtpClientAuthenticationDisabled $false`;
  if (!isToken && /application-specific password|app password/i.test(reply.text))
    return 'Google accepts no account password: give the relay auth: xoauth2 with preset: google (docs/relays.md, “Google”)';
  if (isToken && reply.enhanced === '5.7.3')
    return `the token is good, but not for the mailbox ${username}: check the permission SMTP.SendAsApp and its admin consent, New-ServicePrincipal with the object id of the enterprise application, and Add-MailboxPermission (docs/relays.md, “Microsoft 365”)`;
  if (isToken && reply.code === 535)
    return `the token was issued, but is not valid for the mailbox ${username}: make sure that this is the account that consented, or subject, and that scope is for SMTP (docs/relays.md, “Smarthosts with OAuth”)`;
  return null;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

// Removes secrets from a server's answers before they are recorded: a server may repeat the password or token, perhaps
// altered.

/** A match of this many characters of a secret gives enough of it away; of a shorter secret, all must match. */
const TELLING = 12;
/** Shorter passwords may be ordinary words. Answers to AUTH are searched for these too: little is lost there. */
const SHORTEST = 8;
/** Harmless answers remembered: most of a session are always the same. */
const MAX_HARMLESS = 16;

/**
 * The answer, without its text if that contains the password or token, plain or as AUTH sends it, or a large part of
 * it. Ignores letter case, which is soon guessed, and blanks between letters.
 */
export function withoutSecrets(reply: SmtpReply, credentials: Credentials | null): SmtpReply {
  return credentials === null ? reply : without(secretsOf(credentials), leftOut(credentials), reply);
}

/** The same for all other answers: some servers tell clients who they are. Does not search for short passwords. */
export function concealing(credentials: Credentials | null): (reply: SmtpReply) => SmtpReply {
  if (credentials === null || folded(credentials.secret).length < SHORTEST) return (reply) => reply;
  const secrets = secretsOf(credentials);
  const instead = leftOut(credentials);
  const harmless = new Set<string>();
  return (reply) => {
    const said = reply.lines.join('\n');
    if (harmless.has(said)) return reply;
    const safe = without(secrets, instead, reply);
    if (safe === reply && harmless.size < MAX_HARMLESS) harmless.add(said);
    return safe;
  };
}

/** The secret forms of credentials, folded. */
function secretsOf(credentials: Credentials): readonly string[] {
  return sentForms(credentials).map(folded);
}

function leftOut({ auth }: Credentials): string {
  return `(left out: it repeats the ${auth === 'xoauth2' ? 'token' : 'password'})`;
}

function without(secrets: readonly string[], instead: string, reply: SmtpReply): SmtpReply {
  const said = [reply.text, reply.lines.join('')].map(folded);
  if (!secrets.some((secret) => said.some((text) => repeats(text, secret)))) return reply;
  return { ...reply, text: instead, lines: [] };
}

/** Iterates over the shorter of both: a token has thousands of characters, most answers fifty. */
function repeats(text: string, secret: string): boolean {
  const length = Math.min(secret.length, TELLING);
  if (length === 0) return false;
  const [shorter, longer] = text.length < secret.length ? [text, secret] : [secret, text];
  for (let at = 0; at + length <= shorter.length; at++)
    if (longer.includes(shorter.slice(at, at + length))) return true;
  return false;
}

function folded(text: string): string {
  return text.toLowerCase().replace(/[\s=]/g, '');
}
