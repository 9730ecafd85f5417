/** Our replies in their wire form (RFC 5321 §4.2, RFC 2034). */

/** A reply of one line. */
export interface SessionReply {
  /** 200 to 599. */
  readonly code: number;
  /** Enhanced status code (RFC 3463); replaced by `x.0.0` if its class differs from the code's. */
  readonly enhanced: string;
  /** Only printable ASCII is sent; a longer text is cut. */
  readonly text: string;
  /** Why, as a code that an operator can look up; absent where code and status say it. */
  readonly reason?: string;
}

/** Characters of a reply's text: the line stays within the 512 octets of RFC 5321 §4.5.3.1.5. */
const MAX_TEXT = 480;
const UNPRINTABLE = /[^\x20-\x7e]+/g;
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3}$/;

/** The reply's line with its CRLF. Always one line, whatever the text contains. */
export function formatReply({ code, enhanced, text }: SessionReply): string {
  const ofClass = String(code).charAt(0);
  const status = ENHANCED.test(enhanced) && enhanced.startsWith(ofClass) ? enhanced : `${ofClass}.0.0`;
  return `${code} ${status} ${printable(text)}\r\n`;
}

/** Makes text fit for a reply: printable ASCII, not too long. */
export function printable(text: string): string {
  return text.replaceAll('…', '...').replace(UNPRINTABLE, '?').slice(0, MAX_TEXT);
}

export function sessionReply(code: number, enhanced: string, text: string, reason?: string): SessionReply {
  return reason === undefined ? { code, enhanced, text } : { code, enhanced, text, reason };
}

export const OK = '250 2.0.0 OK\r\n';
export const MAIL_OK = '250 2.1.0 OK\r\n';
export const RCPT_OK = '250 2.1.5 OK\r\n';
export const START_CONTENT = '354 End data with <CR><LF>.<CR><LF>\r\n';
export const GOODBYE = '221 2.0.0 Goodbye\r\n';
export const START_TLS = '220 2.0.0 Ready to start TLS\r\n';
export const AUTHENTICATED = '235 2.7.0 Authentication succeeded\r\n';
/** Neither yes nor no: the address is never looked up (RFC 5321 §7.3). */
export const CANNOT_VERIFY = '252 2.0.0 Cannot verify; send mail and see\r\n';
export const HELP =
  '214 2.0.0 EHLO HELO MAIL RCPT DATA BDAT RSET NOOP QUIT VRFY HELP STARTTLS AUTH (RFC 5321)\r\n';

export const SHUTTING_DOWN = sessionReply(421, '4.3.2', 'The service is shutting down; try again soon');
export const IDLE_TOO_LONG = sessionReply(421, '4.4.2', 'Silent for too long; closing');
export const TOO_MANY_ERRORS = sessionReply(421, '4.7.0', 'Too many errors; closing');
export const TOO_MANY_COMMANDS = sessionReply(
  421,
  '4.7.0',
  'Too many commands without a message; connect again when there is mail to send',
);
export const TOO_MUCH_INPUT = sessionReply(
  421,
  '4.5.0',
  'Too much was sent without waiting for replies; closing',
);
export const EARLY_TALK = sessionReply(554, '5.5.1', 'Input before the greeting; wait for it');
export const NOT_HTTP = sessionReply(554, '5.5.1', 'This is SMTP, not HTTP; closing');
export const TOO_LONG = sessionReply(
  500,
  '5.5.6',
  'Line too long; 512 bytes at most with its CRLF, 2048 for MAIL and RCPT, 12288 for AUTH',
);
export const BAD_CHARACTERS = sessionReply(
  500,
  '5.5.2',
  'Control characters, NUL and bare CR are not allowed in a command',
);
export const BARE_LF = sessionReply(
  500,
  '5.5.2',
  'Bare LF; lines must end in CRLF: by hand use telnet, nc -C or openssl s_client -crlf',
);
export const NOT_ASCII = sessionReply(
  500,
  '5.5.2',
  'Only ASCII is allowed in a command, and UTF-8 in a path',
);
export const UNKNOWN = sessionReply(500, '5.5.1', 'Unknown command');
export const NOT_IMPLEMENTED = sessionReply(502, '5.5.1', 'Command not implemented');
export const NO_ARGUMENT = sessionReply(501, '5.5.4', 'This command takes no argument');
export const NEEDS_ARGUMENT = sessionReply(501, '5.5.4', 'This command needs an argument');
export const HELLO_FIRST = sessionReply(503, '5.5.1', 'Say EHLO or HELO first');
export const EHLO_FIRST = sessionReply(503, '5.5.1', 'Say EHLO first');
export const MAIL_FIRST = sessionReply(503, '5.5.1', 'Say MAIL first');
export const RCPT_FIRST = sessionReply(503, '5.5.1', 'Say RCPT first');
export const NO_VALID_RECIPIENTS = sessionReply(554, '5.5.1', 'No valid recipients');
export const REQUIRETLS_IN_CLEAR = sessionReply(
  530,
  '5.7.10',
  'REQUIRETLS is only for connections with TLS: say STARTTLS first, or connect with TLS (RFC 8689)',
);
export const NESTED_MAIL = sessionReply(503, '5.5.1', 'A transaction is open; RSET ends it');
export const TLS_FIRST = sessionReply(530, '5.7.0', 'Say STARTTLS first');
export const AUTH_FIRST = sessionReply(
  530,
  '5.7.0',
  'Authentication required: AUTH with an API key as the password',
);
export const TLS_AND_AUTH_FIRST = sessionReply(
  530,
  '5.7.0',
  'Authentication required: STARTTLS first, then AUTH with an API key as the password',
);
export const ALREADY_SECURE = sessionReply(503, '5.5.1', 'TLS is already active');
export const NEEDS_TLS = sessionReply(538, '5.7.11', 'AUTH is accepted only over TLS; say STARTTLS first');

/** Replies that withhold a command until TLS or AUTH, and what each requires. */
export const WITHHELD: ReadonlyMap<SessionReply, 'tls_required' | 'auth_required'> = new Map([
  [TLS_FIRST, 'tls_required'],
  [REQUIRETLS_IN_CLEAR, 'tls_required'],
  [NEEDS_TLS, 'tls_required'],
  [AUTH_FIRST, 'auth_required'],
  [TLS_AND_AUTH_FIRST, 'auth_required'],
]);
