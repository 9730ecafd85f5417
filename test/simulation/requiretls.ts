import { InvariantBroken } from './statuses.ts';

/** REQUIRETLS (RFC 8689) in simulated worlds: which mail requires it, which hops promise it, and what must follow. */

/** Of so many messages, one requires TLS all the way. */
const SHARE = 6;
/** The end of its token, by which hops know it whatever they are told. */
const SUFFIX = '-tls';

/** The token of the message of this number. */
export function tokenNumbered(number: number): string {
  return number % SHARE === 0 ? `t${number}${SUFFIX}` : `t${number}`;
}

/** Whether the message of this token requires TLS all the way. */
export function requiresTls(token: string): boolean {
  return token.endsWith(SUFFIX);
}

/** Whether a relay's hop promises it, in the session of this number: one does, one does not, behind others it depends. */
export function promisesTls(relay: string, session: number): boolean {
  return relay === 'other' || (relay !== 'third' && session % 2 === 0);
}

/**
 * Throws if a hop that promised nothing is given so much as the sender of a message that requires TLS, unless that has
 * none; and if one that did is not asked for what it promised.
 */
export function checkMail(token: string, line: string, isPromised: boolean): void {
  if (!requiresTls(token)) return;
  const isAsked = line.endsWith(' REQUIRETLS');
  if (isAsked !== isPromised || !(isPromised || line.startsWith('MAIL FROM:<>')))
    throw new InvariantBroken(
      `${token} requires TLS, its hop ${isPromised ? 'promised it' : 'did not promise it'}, and was told: ${line}`,
    );
}
