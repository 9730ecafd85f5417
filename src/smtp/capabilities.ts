import type { SmtpReply } from './reply.ts';

/** What a server said in its answer to EHLO (RFC 5321 §4.1.1.1). */
export interface Capabilities {
  /** RFC 2920. */
  readonly pipelining: boolean;
  /** RFC 1870: the largest message taken, in bytes; null when none was declared. */
  readonly maxSizeBytes: number | null;
  /** RFC 1870: whether MAIL may carry SIZE. */
  readonly size: boolean;
  /** RFC 6152. */
  readonly eightBitMime: boolean;
  /** RFC 6531. */
  readonly smtpUtf8: boolean;
  /** RFC 3030: content may be sent by BDAT. */
  readonly chunking: boolean;
  /** RFC 3461. */
  readonly dsn: boolean;
  /** RFC 3207. */
  readonly startTls: boolean;
  /** RFC 4954: mechanisms, upper case. */
  readonly authMechanisms: ReadonlySet<string>;
}

/** A server that knows HELO only. */
export const NO_CAPABILITIES: Capabilities = {
  pipelining: false,
  maxSizeBytes: null,
  size: false,
  eightBitMime: false,
  smtpUtf8: false,
  chunking: false,
  dsn: false,
  startTls: false,
  authMechanisms: new Set(),
};

/** Reads the keywords of a positive reply to EHLO. Unknown ones are ignored. */
export function parseCapabilities(reply: SmtpReply): Capabilities {
  const keywords = new Map<string, string>();
  const mechanisms = new Set<string>();
  for (const line of reply.lines.slice(1)) {
    // Old servers write `AUTH=LOGIN` for clients that were written before the standard.
    const [keyword = '', ...parameters] = line.toUpperCase().trim().split(/[ =]+/);
    keywords.set(keyword, parameters[0] ?? '');
    if (keyword === 'AUTH') for (const mechanism of parameters) mechanisms.add(mechanism);
  }
  const size = keywords.get('SIZE');
  return {
    pipelining: keywords.has('PIPELINING'),
    maxSizeBytes: size !== undefined && /^[1-9]\d{0,14}$/.test(size) ? Number(size) : null,
    size: size !== undefined,
    eightBitMime: keywords.has('8BITMIME'),
    smtpUtf8: keywords.has('SMTPUTF8'),
    chunking: keywords.has('CHUNKING'),
    dsn: keywords.has('DSN'),
    startTls: keywords.has('STARTTLS'),
    authMechanisms: mechanisms,
  };
}
