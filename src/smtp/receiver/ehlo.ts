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
  const keywords = [
    'PIPELINING',
    `SIZE ${maxMessageBytes}`,
    ...(options.startTls && !secure ? ['STARTTLS'] : []),
    ...(mayAuthenticate && !authenticated ? [`AUTH ${MECHANISMS}`] : []),
    'ENHANCEDSTATUSCODES',
    '8BITMIME',
    'SMTPUTF8',
    'CHUNKING',
    'DSN',
    // RFC 9422.
    `LIMITS RCPTMAX=${maxRecipients} MAILMAX=${maxTransactions}`,
  ];
  return `250-${hostname}\r\n${keywords.map((keyword) => `250-${keyword}\r\n`).join('')}250 HELP\r\n`;
}
