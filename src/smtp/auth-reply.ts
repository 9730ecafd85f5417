/** What of a server's answers may be recorded: it may repeat the password or token that it was sent, and not quite as it was. */
import { type Credentials, sentForms } from './auth.ts';
import type { SmtpReply } from './reply.ts';

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
