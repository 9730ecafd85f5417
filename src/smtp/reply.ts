/** Reads SMTP replies (RFC 5321 §4.2) from chunks of any size. */

/** A complete reply of one or more lines. All text is hostile, but decoded and free of control characters. */
export interface SmtpReply {
  /** 200 to 599. */
  readonly code: number;
  /** Enhanced status code (RFC 3463) of the first line that has one of the code's class; null without. */
  readonly enhanced: string | null;
  /** The text after the code of each line. */
  readonly lines: readonly string[];
  /** All lines as one, without enhanced status codes; at most {@link MAX_TEXT} characters. */
  readonly text: string;
}

/** Limits on a peer's replies. */
export interface ReplyLimits {
  /** Bytes of one line, without its end. RFC 5321 allows 512; many servers send more. */
  readonly maxLineBytes: number;
  /** Lines of one reply. */
  readonly maxLines: number;
}

/** Limits for an untrusted peer. */
export const REPLY_LIMITS: ReplyLimits = { maxLineBytes: 2048, maxLines: 128 };

/** Longest `text` of a reply, in UTF-16 units. */
export const MAX_TEXT = 1000;

/** Why nothing more can be read from this peer. */
export type ReplyFault = 'line_too_long' | 'too_many_lines' | 'malformed' | 'mixed_codes';

const LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/s;
const ENHANCED = /^([245])\.\d{1,3}\.\d{1,3}(?= |$)/;
const PLAIN_TEXT = /^[\x20-\x7e]*$/;
/** Control characters, and the separators and direction marks that would disorder a log line. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Reads replies. Push bytes as they arrive, then take replies with `next` until it returns null. After a fault it
 * returns nothing more. Never throws.
 */
export class ReplyParser {
  readonly #limits: ReplyLimits;
  /** The unread input, one character per byte. */
  #input = '';
  #at = 0;
  #code = 0;
  #lines: string[] = [];
  #fault: ReplyFault | null = null;

  constructor(limits: ReplyLimits = REPLY_LIMITS) {
    this.#limits = limits;
  }

  /** Set once the peer has sent something that cannot be a reply. */
  get fault(): ReplyFault | null {
    return this.#fault;
  }

  push(chunk: Buffer): void {
    if (this.#fault !== null) return;
    this.#input = this.#input.slice(this.#at) + chunk.toString('latin1');
    this.#at = 0;
  }

  /** The next complete reply, or null: more bytes are needed, or there is a fault. */
  next(): SmtpReply | null {
    while (this.#fault === null) {
      const line = this.#nextLine();
      if (line === null) return null;
      const reply = this.#take(line);
      if (reply) return reply;
    }
    return null;
  }

  #nextLine(): string | null {
    const end = this.#input.indexOf('\n', this.#at);
    if (end < 0) {
      // One byte over the limit may be the CR of a line of exactly that length.
      if (this.#input.length - this.#at > this.#limits.maxLineBytes + 1) this.#fault = 'line_too_long';
      return null;
    }
    const crlf = end > this.#at && this.#input.charCodeAt(end - 1) === 13;
    const line = this.#input.slice(this.#at, crlf ? end - 1 : end);
    this.#at = end + 1;
    return line;
  }

  #take(line: string): SmtpReply | null {
    const match = LINE.exec(line);
    if (line.length > this.#limits.maxLineBytes) return this.#fail('line_too_long');
    if (!match) return this.#fail('malformed');
    const code = Number(match[1]);
    if (this.#lines.length === 0) this.#code = code;
    else if (code !== this.#code) return this.#fail('mixed_codes');
    if (this.#lines.length >= this.#limits.maxLines) return this.#fail('too_many_lines');
    this.#lines.push(clean(match[3] ?? ''));
    if (match[2] === '-') return null;
    const lines = this.#lines;
    this.#lines = [];
    return assemble(code, lines);
  }

  #fail(fault: ReplyFault): null {
    this.#fault = fault;
    return null;
  }
}

/** A reply as one line for people: code, enhanced code, text; at most `max` characters. */
export function describeReply(reply: SmtpReply, max: number): string {
  const enhanced = reply.enhanced === null ? '' : ` ${reply.enhanced}`;
  const line = `${reply.code}${enhanced} ${reply.text}`;
  return line.length <= max ? line : line.slice(0, max).toWellFormed();
}

function assemble(code: number, lines: readonly string[]): SmtpReply {
  let enhanced: string | null = null;
  let text = '';
  for (const line of lines) {
    const found = ENHANCED.exec(line);
    if (found && found[1] === String(code).charAt(0)) enhanced ??= found[0];
    const rest = found ? line.slice(found[0].length).trim() : line.trim();
    if (rest !== '') text = text === '' ? rest : `${text} ${rest}`;
    if (text.length > MAX_TEXT) break;
  }
  return {
    code,
    enhanced,
    lines,
    text: text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT).toWellFormed(),
  };
}

/** Converts bytes (as characters) to text fit for a log line. */
function clean(line: string): string {
  if (PLAIN_TEXT.test(line)) return line;
  return Buffer.from(line, 'latin1').toString('utf8').replace(UNPRINTABLE, ' ');
}

/** The extensions in a server's answer to EHLO (RFC 5321 §4.1.1.1). */
export interface Capabilities {
  /** RFC 2920. */
  readonly pipelining: boolean;
  /** RFC 1870: the largest message accepted, in bytes; null when none was declared. */
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
  /** RFC 8689. */
  readonly requireTls: boolean;
  /** RFC 4954: mechanisms, upper case. */
  readonly authMechanisms: ReadonlySet<string>;
}

/** A server that only knows HELO. */
export const NO_CAPABILITIES: Capabilities = {
  pipelining: false,
  maxSizeBytes: null,
  size: false,
  eightBitMime: false,
  smtpUtf8: false,
  chunking: false,
  dsn: false,
  startTls: false,
  requireTls: false,
  authMechanisms: new Set(),
};

/** Reads the keywords of a positive reply to EHLO. Ignores unknown ones. */
export function parseCapabilities(reply: SmtpReply): Capabilities {
  const keywords = new Map<string, string>();
  const mechanisms = new Set<string>();
  for (const line of reply.lines.slice(1)) {
    // Old servers write `AUTH=LOGIN` for clients from before the standard.
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
    requireTls: keywords.has('REQUIRETLS'),
    authMechanisms: mechanisms,
  };
}

/** Replies of servers that accept a message, with their id for it. The first match counts. */
const FORMS: readonly RegExp[] = [
  // Postfix, Haraka, SendGrid, Waybill: `Ok: queued as 4Q2xYz1`
  /\bqueued as <?([\w.@+-]{1,200})>?/i,
  // Exim: `OK id=1rAbCd-0001aB-2C`
  /\bid=<?([\w.@+-]{1,200})>?/,
  // Exchange: `<…> [InternalId=1234, Hostname=…] … Queued mail for delivery`
  /\bInternalId=(\d{1,30})\b/,
  // Gmail: `OK  1700000000 a1-20020a0562.123 - gsmtp`
  /^OK\s+\d+ ([\w.-]{1,200}) - gsmtp$/,
  // sendmail, OpenSMTPD: `3AB1cD2e012345 Message accepted for delivery`
  /^(?:Ok:? )?([\w.-]{6,200}):? Message accepted for delivery/i,
  // qmail: `ok 1700000000 qp 12345`
  /^ok \d+ (qp \d{1,20})$/,
  // Amazon SES: `Ok 0102018c0f1e2d3c-…-000000`
  /^Ok ([\w-]{20,200})$/,
];

/** The id in the text of a positive reply to the final dot, without its enhanced code; null if there is none. */
export function providerMessageId(text: string): string | null {
  for (const form of FORMS) {
    const id = form.exec(text)?.[1];
    if (id !== undefined) return id;
  }
  return null;
}
