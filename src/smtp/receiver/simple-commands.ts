/** Commands outside transactions, and the rules for idle commands: those that bring no message nearer. */

import { MECHANISMS } from './auth-exchange.ts';
import type { Question, ReceiverOptions } from './effect.ts';
import { isHttpLine } from './http-line.ts';
import type { Outbox } from './outbox.ts';
import * as replies from './session-reply.ts';
import type { Transactions } from './transaction.ts';

/** A parsed command line. */
export interface Command {
  /** Upper case. */
  readonly verb: string;
  readonly argument: string;
  /** All of it. */
  readonly line: string;
}

const IDLE_VERBS = new Set(['EHLO', 'HELO', 'STARTTLS', 'RSET', 'NOOP', 'VRFY', 'EXPN', 'HELP']);
const EMPTY_CHUNK = /^0+$/;

/** Whether a command leads to no message, whatever its reply. */
export function isIdleCommand(verb: string, argument: string): boolean {
  return IDLE_VERBS.has(verb) || (verb === 'BDAT' && EMPTY_CHUNK.test(argument));
}

/**
 * Whether a refusal by the owner is idle: of MAIL, and of anything that may be asked again (4xx), which no other limit
 * bounds. Not of a message, for each has an accepted MAIL.
 */
export function isIdleAnswer({ kind }: Question, { code }: replies.SessionReply): boolean {
  return kind === 'mail' || (code < 500 && kind !== 'message');
}

/** Handles a command outside transactions, known or unknown. Returns its refusal. */
export function takeSimpleCommand(
  { verb, argument, line }: Command,
  transactions: Transactions,
  outbox: Outbox,
): replies.SessionReply | null {
  switch (verb) {
    case 'RSET':
      if (argument !== '') return replies.NO_ARGUMENT;
      transactions.reset();
      return outbox.say(replies.OK);
    case 'NOOP':
      return outbox.say(replies.OK);
    case 'QUIT':
      if (argument !== '') return replies.NO_ARGUMENT;
      outbox.say(replies.GOODBYE);
      return outbox.end('quit', null);
    case 'VRFY':
      if (argument === '') return replies.NEEDS_ARGUMENT;
      return outbox.say(replies.CANNOT_VERIFY);
    case 'HELP':
      return outbox.say(replies.HELP);
    case 'EXPN':
      return replies.NOT_IMPLEMENTED;
    default:
      if (isHttpLine(line)) return outbox.end('http_after_greeting', replies.NOT_HTTP);
      return replies.UNKNOWN;
  }
}

/** The state of a session at EHLO. */
interface EhloState {
  readonly secure: boolean;
  readonly authenticated: boolean;
}

/** The reply to EHLO: the extensions that this session may use now (RFC 5321 §4.1.1.1). */
export function ehloReply(options: ReceiverOptions, { secure, authenticated }: EhloState): string {
  const { hostname, maxMessageBytes, maxRecipients, maxTransactions } = options;
  const mayAuthenticate = secure || options.auth === 'always';
  const startTls = options.startTls && !secure ? '250-STARTTLS\r\n' : '';
  // RFC 8689 §2: only a session that is encrypted may be asked for it.
  const requireTls = secure ? '250-REQUIRETLS\r\n' : '';
  const auth = mayAuthenticate && !authenticated ? `250-AUTH ${MECHANISMS}\r\n` : '';
  return (
    `250-${hostname}\r\n250-PIPELINING\r\n250-SIZE ${maxMessageBytes}\r\n${startTls}${requireTls}${auth}` +
    '250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n250-DSN\r\n' +
    // RFC 9422.
    `250-LIMITS RCPTMAX=${maxRecipients} MAILMAX=${maxTransactions}\r\n250 HELP\r\n`
  );
}
