/** What of a server's answers may be recorded: it may repeat the password that it was sent, and not quite as it was. */
import type { Credentials } from './opening.ts';
import type { SmtpReply } from './reply.ts';

/** Characters of a secret in a row that give enough of it away; all of one that is shorter. */
const TELLING = 12;
const LEFT_OUT = '(left out: it repeats the password)';
/** Shorter passwords are words that stand in good answers too. To AUTH an answer is seldom good, and nothing is lost by it. */
const SHORTEST = 8;
/** Answers that are remembered to be harmless: most of a session are always the same. */
const MAX_HARMLESS = 16;

/**
 * The answer, without its text where that has the password in it, plain or as AUTH sends it, or a good part of it.
 * Letters may be of the other case, which is soon guessed, and have blanks between them.
 */
export function withoutSecrets(reply: SmtpReply, credentials: Credentials | null): SmtpReply {
  return credentials === null ? reply : without(secretsOf(credentials), reply);
}

/**
 * The same for the answers to anything else, of all the session: for a server that tells its clients who they are. Short
 * passwords are not looked for.
 */
export function concealing(credentials: Credentials | null): (reply: SmtpReply) => SmtpReply {
  if (credentials === null || folded(credentials.password).length < SHORTEST) return (reply) => reply;
  const secrets = secretsOf(credentials);
  const harmless = new Set<string>();
  return (reply) => {
    const said = reply.lines.join('\n');
    if (harmless.has(said)) return reply;
    const safe = without(secrets, reply);
    if (safe === reply && harmless.size < MAX_HARMLESS) harmless.add(said);
    return safe;
  };
}

/** What of credentials is not to be repeated, folded. */
function secretsOf({ username, password }: Credentials): readonly string[] {
  return [password, base64(password), base64(`\0${username}\0${password}`)].map(folded);
}

function without(secrets: readonly string[], reply: SmtpReply): SmtpReply {
  const said = [reply.text, reply.lines.join('')].map(folded);
  if (!secrets.some((secret) => said.some((text) => repeats(text, secret)))) return reply;
  return { ...reply, text: LEFT_OUT, lines: [] };
}

function repeats(text: string, secret: string): boolean {
  const length = Math.min(secret.length, TELLING);
  for (let at = 0; length > 0 && at + length <= secret.length; at++)
    if (text.includes(secret.slice(at, at + length))) return true;
  return false;
}

function folded(text: string): string {
  return text.toLowerCase().replace(/[\s=]/g, '');
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
