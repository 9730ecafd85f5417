/** The meaning of a peer's replies for a message, and our own replies for one that cannot be sent. */
import { localReply, type Outcome, outcomeOfReplyCode, type Reply } from '../domain/outcome.ts';
import { PASSWORD_CURE, refusesPasswords, withCure } from './auth.ts';
import type { SmtpReply } from './reply.ts';

/** What a reply answers; `content` until the final dot, or the last chunk, is sent. */
export type SenderVerb = 'mail' | 'rcpt' | 'data' | 'content' | 'dot';

/** Why a sender's address cannot be sent. */
export const UNSAFE_SENDER = localReply(
  'unsafe_address',
  '5.1.7',
  'The sender address cannot be written in SMTP',
);
/** Why a recipient's address cannot be sent. */
export const UNSAFE_RECIPIENT = localReply(
  'unsafe_address',
  '5.1.3',
  'The address cannot be written in SMTP',
);
/** Why 8-bit content cannot be sent. */
export const NO_EIGHT_BIT = localReply(
  'no_8bitmime',
  '5.6.3',
  'The relay does not accept 8-bit content (8BITMIME)',
);
/** Why internationalised mail cannot be sent. */
export const NO_UTF8 = localReply(
  'no_smtputf8',
  '5.6.7',
  'The relay does not accept internationalised mail (SMTPUTF8)',
);
/** Why a message that demands TLS all the way cannot be sent. */
export const NO_REQUIRETLS = localReply(
  'no_requiretls',
  '5.7.30',
  'The message demands TLS all the way, which the relay does not promise (REQUIRETLS)',
);
/** The outcome of a message not offered to this hop, which lacks something. Another may accept it. */
export function notForThisHop(reply: Reply): Outcome {
  return { kind: 'rejected', reply, hopBound: true };
}

/** The reply for a recipient without an outcome, which is a bug. */
export const UNDECIDED = localReply('internal_error', '4.3.0', 'The transaction ended without an answer');

/**
 * 530 requires AUTH or STARTTLS, and 534, 535 and 538 refuse the one attempted (RFC 4954 §6). Any other code may
 * concern the sender: 550 5.7.1 does so more often than it concerns us.
 */
const NOT_AUTHENTICATED: ReadonlySet<number> = new Set([530, 534, 535, 538]);

/**
 * Whether the hop refuses to serve us, rather than this message. 421 closes the session whatever was asked (RFC 5321
 * §3.8). A hop that accepted MAIL serves us: a later demand for AUTH concerns the recipient, as one that needs
 * relaying.
 */
export function isHopsIllness(reply: SmtpReply, answers: SenderVerb): boolean {
  if (reply.code === 421 || refusesPasswords(reply)) return true;
  return answers === 'mail' && NOT_AUTHENTICATED.has(reply.code);
}

/**
 * Whether the answer to the first BDAT means that the peer does not know it (RFC 5321 §4.2.4), or misses DATA. Such a
 * peer offered what something on the way cannot do; the message is not at fault.
 */
export function isUnknownBdat(reply: SmtpReply): boolean {
  return reply.code >= 500 && reply.code <= 504;
}

/** Whether the command was accepted. */
export function isPositive(reply: SmtpReply): boolean {
  return reply.code < 300;
}

/** Whether a refused RCPT was one too many for one transaction. Old servers answer 552 (RFC 5321 §4.5.3.1.10). */
export function isOneTooMany({ code, enhanced }: SmtpReply): boolean {
  return (
    (code === 452 && (enhanced === null || enhanced === '4.5.3')) ||
    (code === 552 && (enhanced === null || enhanced === '5.5.3'))
  );
}

/** The meaning of a refused RCPT for its recipient. */
export function outcomeOfRcpt(reply: SmtpReply): Outcome {
  const isFinal = outcomeOfReplyCode(reply.code) === 'rejected' && !isOneTooMany(reply);
  if (isFinal) return { kind: 'rejected', reply: peerReply(reply) };
  return { kind: 'deferred', reply: peerReply(reply), ofRecipient: true };
}

/** The peer's reply, with the class's default where it gave no enhanced code. */
export function peerReply(reply: SmtpReply): Reply {
  const enhanced = reply.enhanced ?? `${String(reply.code).charAt(0)}.0.0`;
  if (refusesPasswords(reply))
    return { ...localReply('auth_failed', enhanced, withCure(reply.text, PASSWORD_CURE)), code: reply.code };
  return { code: reply.code, enhanced, cause: 'smtp_reply', text: reply.text };
}
