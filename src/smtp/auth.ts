import type { AuthMode } from '../domain/relay.ts';
import { type Mechanism, mayGoAlong } from './command.ts';
import type { SmtpReply } from './reply.ts';

/** AUTH from the client's side (RFC 4954): which mechanism, what is sent, and what to do about a refusal. Pure. */

/** What AUTH proves who we are with. */
export interface Credentials {
  readonly username: string;
  /** The password, or with `xoauth2` the access token. */
  readonly secret: string;
  /** Absent: PLAIN or LOGIN, whichever is offered. */
  readonly auth?: AuthMode;
}

/** The server that is spoken to: OAUTHBEARER names it (RFC 7628 §3.1). */
export interface AuthPeer {
  readonly host: string;
  readonly port: number;
}

/** How to authenticate. Responses are in base64. */
export interface AuthPlan {
  readonly mechanism: Mechanism;
  /** Goes along with AUTH; undefined: nothing does, and the first 334 asks for the first response. */
  readonly initial: string | undefined;
  /** Answers to 334, in order. */
  readonly responses: readonly string[];
  /** What ends an exchange in which the server has told why it takes no token; null: there is none. */
  readonly acknowledgement: string | null;
}

/** Chooses among the mechanisms that are offered; else says why none will do. */
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

/** Tokens of Microsoft do not go along: they are too long, and its documents show them asked for by an empty 334. */
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

/** Everything that is sent of credentials, as it stands on the wire and before it is encoded. */
function sentForms(credentials: Credentials): readonly string[] {
  const { username, secret, auth } = credentials;
  if (auth !== 'xoauth2') return [secret, base64(secret), base64(`\0${username}\0${secret}`)];
  // How it looks in base64 depends on how many bytes stand before it.
  return [secret, base64(secret), base64(` ${secret}`), base64(`  ${secret}`)];
}

const MAX_CHALLENGE = 500;

/**
 * What a 334 to a token says, which tells why it is not taken: the members of the JSON in it, as
 * `status 401, schemes bearer`. Null where it holds no JSON.
 */
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
 * Exchange Online takes no passwords: `550 5.7.30 Basic authentication is not supported for Client Submission`. By the
 * code alone it could be Gmail, which says so of a signature.
 */
export function refusesPasswords({ enhanced, text }: SmtpReply): boolean {
  return enhanced === '5.7.30' && /basic auth/i.test(text);
}

/** What to do where passwords are not taken any more. */
export const PASSWORD_CURE =
  'Microsoft takes no passwords for SMTP any more: give the relay auth: xoauth2 with preset: microsoft (docs/relays.md, “Microsoft 365”)';

/** What a server said, as a sentence, and what to do about it; null: nothing is known. */
export function withCure(said: string, cure: string | null): string {
  return cure === null ? said : `${said.replace(/[. ]+$/, '')}. What to do: ${cure}`;
}

/** What to do about a refusal of AUTH; null where nothing better is known than the server’s own words. */
export function authCure(reply: SmtpReply, { auth, username }: Credentials): string | null {
  const isToken = auth === 'xoauth2';
  if (!isToken && reply.code === 550 && reply.enhanced === '5.7.30') return PASSWORD_CURE;
  // Where it was switched off before: 535 5.7.139 Authentication unsuccessful, basic authentication is disabled.
  if (!isToken && /basic authentication is disabled/i.test(reply.text)) return PASSWORD_CURE;
  if (/SmtpClientAuthentication is disabled/i.test(reply.text))
    return `SMTP AUTH is off for the mailbox or the tenant: Set-CASMailbox -Identity ${username} -SmtpClientAuthenticationDisabled $false`;
  if (!isToken && /application-specific password|app password/i.test(reply.text))
    return 'Google takes no account password: give the relay auth: xoauth2 with preset: google (docs/relays.md, “Google”)';
  if (isToken && reply.enhanced === '5.7.3')
    return `the token is good, but not for the mailbox ${username}: look at the permission SMTP.SendAsApp and its admin consent, at New-ServicePrincipal with the object id of the enterprise application, and at Add-MailboxPermission (docs/relays.md, “Microsoft 365”)`;
  if (isToken && reply.code === 535)
    return `the token was given, but does not open the mailbox ${username}: see that this is the account that consented, or subject, and that scope is for SMTP (docs/relays.md, “Smarthosts with OAuth”)`;
  return null;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** What of a server's answers may be recorded: it may repeat the password or token that it was sent, and not quite as it was. */

/** Characters of a secret in a row that give enough of it away; all of one that is shorter. */
const TELLING = 12;
/** Shorter passwords are words that stand in good answers too. To AUTH an answer is seldom good, and nothing is lost by it. */
const SHORTEST = 8;
/** Answers that are remembered to be harmless: most of a session are always the same. */
const MAX_HARMLESS = 16;

/**
 * The answer, without its text where that has the password or token in it, plain or as AUTH sends it, or a good part of it.
 * Letters may be of the other case, which is soon guessed, and have blanks between them.
 */
export function withoutSecrets(reply: SmtpReply, credentials: Credentials | null): SmtpReply {
  return credentials === null ? reply : without(secretsOf(credentials), leftOut(credentials), reply);
}

/**
 * The same for the answers to anything else, of all the session: for a server that tells its clients who they are. Short
 * passwords are not looked for.
 */
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

/** What of credentials is not to be repeated, folded. */
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

/** Goes along the shorter of both: a token has some thousands of characters, and most answers fifty. */
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
