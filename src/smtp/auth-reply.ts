/** What of an answer to AUTH may be recorded: a server may repeat what it was sent, and not quite as it was. */
import type { Credentials } from './opening.ts';
import type { SmtpReply } from './reply.ts';

/** Characters of a secret in a row that give enough of it away; all of one that is shorter. */
const TELLING = 12;
const LEFT_OUT = '(left out: it repeats the password)';

/**
 * The answer, without its text where that has the password in it, plain or as AUTH sends it, or a good part of it.
 * Letters may be of the other case, which is soon guessed, and have blanks between them.
 */
export function withoutSecrets(reply: SmtpReply, credentials: Credentials | null): SmtpReply {
  if (credentials === null) return reply;
  const { username, password } = credentials;
  const secrets = [password, base64(password), base64(`\0${username}\0${password}`)];
  const said = [reply.text, reply.lines.join('')].map(folded);
  if (!secrets.some((secret) => said.some((text) => repeats(text, folded(secret))))) return reply;
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
