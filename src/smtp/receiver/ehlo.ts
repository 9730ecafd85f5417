/** A file of its own, because what is offered is told from what is understood. */
import { MECHANISMS } from './auth-exchange.ts';
import type { ReceiverOptions } from './options.ts';

/** What is true of a session when it says EHLO. */
export interface EhloState {
  readonly secure: boolean;
  readonly authenticated: boolean;
}

/** The reply to EHLO: what this session may use now (RFC 5321 §4.1.1.1). */
export function ehloReply(options: ReceiverOptions, { secure, authenticated }: EhloState): string {
  const { hostname, maxMessageBytes, maxRecipients, maxTransactions } = options;
  const mayAuthenticate = secure || options.auth === 'always';
  const startTls = options.startTls && !secure ? '250-STARTTLS\r\n' : '';
  const auth = mayAuthenticate && !authenticated ? `250-AUTH ${MECHANISMS}\r\n` : '';
  return (
    `250-${hostname}\r\n250-PIPELINING\r\n250-SIZE ${maxMessageBytes}\r\n${startTls}${auth}` +
    '250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n250-DSN\r\n' +
    // RFC 9422.
    `250-LIMITS RCPTMAX=${maxRecipients} MAILMAX=${maxTransactions}\r\n250 HELP\r\n`
  );
}
