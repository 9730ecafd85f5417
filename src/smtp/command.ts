import type { BodyFlags, Envelope } from '../domain/message.ts';
import type { Capabilities } from './reply.ts';

/**
 * SMTP commands in their wire form (RFC 5321 §4.1), each with its CRLF. Values checked at acceptance are checked again
 * here: nothing that ends a line or a path can be written, whatever a caller passes.
 */

const UNSAFE_IN_PATH = /[\u0000-\u0020\u007f-\u009f<>]/;
const HOST_NAME = /^[0-9A-Za-z.:_[\]-]{1,255}$/;
const BASE64_LINE = /^[0-9A-Za-z+/=]*$/;
/** Octets of a command line with its CRLF (RFC 5321 §4.5.3.1.4). */
const MAX_COMMAND_LINE = 512;

/** Whether an address may appear between angle brackets. Does not check that it is valid. */
export function isSafePath(address: string): boolean {
  return !UNSAFE_IN_PATH.test(address) && address.isWellFormed();
}

/** A mechanism of AUTH that we support. */
export type Mechanism = 'PLAIN' | 'LOGIN' | 'XOAUTH2' | 'OAUTHBEARER';

/** Parameters of MAIL; absent ones are not written. */
export interface MailParameters {
  /** RFC 1870. */
  readonly sizeBytes?: number;
  /** RFC 6152: BODY=8BITMIME. */
  readonly eightBit?: boolean;
  /** RFC 6531. */
  readonly utf8?: boolean;
  /** RFC 8689. */
  readonly requireTls?: boolean;
  /** RFC 3461. */
  readonly ret?: 'FULL' | 'HDRS';
  /** RFC 3461, xtext. */
  readonly envid?: string;
}

/** Parameters of RCPT (RFC 3461); absent ones are not written. */
export interface RcptParameters {
  readonly notify?: string;
  /** A type, `;` and xtext. */
  readonly orcpt?: string;
}

/** MAIL FROM; '' is the null reverse-path. Throws RangeError for an unsafe value. */
export function mailCommand(reversePath: string, parameters: MailParameters): string {
  const size = parameters.sizeBytes === undefined ? '' : ` SIZE=${parameters.sizeBytes}`;
  const body = parameters.eightBit ? ' BODY=8BITMIME' : '';
  const utf8 = parameters.utf8 ? ' SMTPUTF8' : '';
  const requireTls = parameters.requireTls ? ' REQUIRETLS' : '';
  const ret = parameters.ret === undefined ? '' : ` RET=${parameters.ret}`;
  const envid = checkedParameter('ENVID', parameters.envid, isEnvid);
  return `MAIL FROM:<${checkedPath(reversePath)}>${size}${body}${utf8}${requireTls}${ret}${envid}\r\n`;
}

/** RCPT TO. Throws RangeError for an unsafe value. */
export function rcptCommand(forwardPath: string, parameters: RcptParameters = {}): string {
  const notify = checkedParameter('NOTIFY', parameters.notify, isNotify);
  const orcpt = checkedParameter('ORCPT', parameters.orcpt, isOrcpt);
  return `RCPT TO:<${checkedPath(forwardPath)}>${notify}${orcpt}\r\n`;
}

/** BDAT (RFC 3030 §2), which that many bytes of content must follow at once. */
export function bdatCommand(sizeBytes: number, isLast: boolean): string {
  return `BDAT ${sizeBytes}${isLast ? ' LAST' : ''}\r\n`;
}

/** EHLO or HELO. Throws RangeError for an invalid host name or address literal. */
export function helloCommand(verb: 'EHLO' | 'HELO', hostname: string): string {
  if (!HOST_NAME.test(hostname)) throw new RangeError('not a host name');
  return `${verb} ${hostname}\r\n`;
}

/** AUTH with a mechanism and, where it has one, its initial response in base64 (RFC 4954). */
export function authCommand(mechanism: Mechanism, initialResponse?: string): string {
  return initialResponse === undefined
    ? `AUTH ${mechanism}\r\n`
    : `AUTH ${mechanism} ${responseLine(initialResponse)}`;
}

/** Whether AUTH with this initial response fits into a command line; otherwise the response must wait (RFC 4954 §4). */
export function mayGoAlong(mechanism: Mechanism, initialResponse: string): boolean {
  return authCommand(mechanism, initialResponse).length <= MAX_COMMAND_LINE;
}

/** A line of an AUTH exchange: the response in base64. */
export function responseLine(base64: string): string {
  if (!BASE64_LINE.test(base64)) throw new RangeError('not base64');
  return `${base64}\r\n`;
}

export const DATA = 'DATA\r\n';
export const RSET = 'RSET\r\n';
export const QUIT = 'QUIT\r\n';
export const STARTTLS = 'STARTTLS\r\n';

function checkedParameter(keyword: string, value: string | undefined, isValid: (text: string) => boolean) {
  if (value === undefined) return '';
  if (!isValid(value)) throw new RangeError(`not a value of ${keyword}`);
  return ` ${keyword}=${value}`;
}

function checkedPath(address: string): string {
  if (!isSafePath(address)) throw new RangeError('not a safe path');
  return address;
}

// Values of RFC 3461's parameters of MAIL and RCPT.

const XTEXT = /^(?:[!-*,-<>-~]|\+[0-9A-F]{2})+$/;
const NOTIFY = /^(?:NEVER|(?:SUCCESS|FAILURE|DELAY)(?:,(?:SUCCESS|FAILURE|DELAY)){0,2})$/;
/** The address after the type is xtext, or UTF-8 (RFC 6533 §3). */
const ORCPT = /^[A-Za-z0-9-]{1,32};[!-<>-~\u0080-\u{10ffff}]+$/u;
const CONTROL = /[\u0080-\u009f]/;
const NON_ASCII = /[^\u0000-\u007f]/;
/** Characters that xtext must encode. */
const NOT_LITERAL = /[^!-*,-<>-~]/g;
/** RFC 3461 §4.4. */
export const MAX_ENVID = 100;
/** RFC 3461 §4.2. */
export const MAX_ORCPT = 500;

/** Whether this is valid xtext for ENVID. */
export function isEnvid(text: string): boolean {
  return text.length <= MAX_ENVID && XTEXT.test(text);
}

/** Whether this is a valid NOTIFY: `NEVER`, or a list of the others. */
export function isNotify(text: string): boolean {
  return NOTIFY.test(text);
}

/** Whether this is a valid ORCPT: a type, a semicolon, and an address in xtext or UTF-8. */
export function isOrcpt(text: string): boolean {
  return text.length <= MAX_ORCPT && ORCPT.test(text) && !CONTROL.test(text) && text.isWellFormed();
}

/** The ORCPT for an address whose sender gave none (RFC 3461 §5.2.1, RFC 6533 §3). Null if it would be too long. */
export function orcptOf(address: string, utf8: boolean): string | null {
  const type = NON_ASCII.test(address) ? 'utf-8' : 'rfc822';
  const xtext = address.replace(NOT_LITERAL, (unit) => (NON_ASCII.test(unit) ? unit : hex(unit)));
  const text = `${type};${xtext}`;
  const written = utf8 ? text : asciiOrcpt(text);
  return isOrcpt(written) ? written : null;
}

/** An ORCPT for a session without SMTPUTF8: non-ASCII characters as `\x{…}` (RFC 6533 §3). */
export function asciiOrcpt(orcpt: string): string {
  return Array.from(orcpt, (character) =>
    NON_ASCII.test(character) ? `\\x{${character.codePointAt(0)?.toString(16).toUpperCase()}}` : character,
  ).join('');
}

function hex(character: string): string {
  return `+${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

// The command lines of an envelope, with the parameters that the peer supports and the message needs.

/** Whether an envelope requires SMTPUTF8 (RFC 6531 §3.2). Domains are A-labels, so only local parts matter. */
export function hasUtf8Address({ reversePath, recipients }: Envelope): boolean {
  return NON_ASCII.test(reversePath) || recipients.some(({ address }) => NON_ASCII.test(address));
}

/** Writes the MAIL and the RCPTs of one message. */
export class EnvelopeLines {
  /** Whether the message requires SMTPUTF8. */
  readonly needsUtf8: boolean;
  readonly #envelope: Envelope;
  readonly #parameters: MailParameters;
  readonly #capabilities: Capabilities;

  /** `requireTls`: the message demands it. */
  constructor(
    envelope: Envelope,
    sizeBytes: number,
    flags: BodyFlags,
    capabilities: Capabilities,
    requireTls = false,
  ) {
    this.needsUtf8 = flags.utf8 || hasUtf8Address(envelope);
    this.#envelope = envelope;
    this.#capabilities = capabilities;
    const { ret, envid } = envelope;
    this.#parameters = {
      ...(capabilities.size ? { sizeBytes } : {}),
      eightBit: flags.eightBit,
      utf8: this.needsUtf8,
      requireTls: requireTls && capabilities.requireTls,
      ...(capabilities.dsn && ret !== null ? { ret } : {}),
      ...(capabilities.dsn && envid !== null && isEnvid(envid) ? { envid } : {}),
    };
  }

  /** Throws RangeError for an unsafe reverse-path. */
  mail(): string {
    return mailCommand(this.#envelope.reversePath, this.#parameters);
  }

  /** Throws RangeError for a missing recipient, or an unsafe one. */
  rcpt(index: number): string {
    const recipient = this.#envelope.recipients[index];
    if (!recipient) throw new RangeError('no such recipient');
    const { address, notify, orcpt } = recipient;
    return rcptCommand(address, this.#capabilities.dsn ? this.#reporting(address, notify, orcpt) : {});
  }

  /**
   * As stored; a value stored under other rules that is unsafe now is left out. If reports are requested without ORCPT,
   * the address is added: behind an alias it would be lost (RFC 3461 §5.2.1).
   */
  #reporting(address: string, notify: string | null, orcpt: string | null): RcptParameters {
    const wanted = notify !== null && isNotify(notify) ? notify : null;
    const original = orcpt === null ? this.#originalOf(address, wanted) : this.#writable(orcpt);
    return {
      ...(wanted === null ? {} : { notify: wanted }),
      ...(original === null ? {} : { orcpt: original }),
    };
  }

  #originalOf(address: string, notify: string | null): string | null {
    return notify === null || notify === 'NEVER' ? null : orcptOf(address, this.needsUtf8);
  }

  #writable(orcpt: string): string | null {
    const written = this.needsUtf8 ? orcpt : asciiOrcpt(orcpt);
    return isOrcpt(orcpt) && isOrcpt(written) ? written : null;
  }
}

// The content of a message between 354 and the final dot (RFC 5321 §4.5.2).

const CR = 13;
const LF = 10;
const DOT = 46;
const LF_THEN_DOT = Buffer.from('\n.');
const CR_THEN_DOT = Buffer.from('\r.');

/**
 * Makes the wire form of a content that arrives in chunks of any size: doubles a dot at the beginning of a line, and
 * knows how to end the content. Contents have only CRLF line ends. Should one ever have others, a dot after a bare CR
 * or LF is doubled as well: whatever a server takes for a line end, it never finds the end of the content inside.
 */
export class DataFramer {
  readonly #stuff: boolean;
  /** The last two bytes written; the content follows the CRLF of the DATA command. */
  #beforeLast = CR;
  #last = LF;

  /** `stuff` may be false when it is known that no line begins with a dot. */
  constructor(stuff: boolean) {
    this.#stuff = stuff;
  }

  /** The wire form of a chunk; the chunk itself if nothing is doubled. */
  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length === 0) return chunk;
    const framed = this.#stuff ? this.#double(chunk) : chunk;
    this.#beforeLast = chunk.length > 1 ? (chunk[chunk.length - 2] ?? 0) : this.#last;
    this.#last = chunk[chunk.length - 1] ?? 0;
    return framed;
  }

  /** The end of the content: the final dot, after a CRLF if the content does not end in one. */
  end(): string {
    return this.#beforeLast === CR && this.#last === LF ? '.\r\n' : '\r\n.\r\n';
  }

  #double(chunk: Uint8Array): Uint8Array {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const dots = bytes[0] === DOT && (this.#last === LF || this.#last === CR) ? [0] : [];
    addDots(bytes, LF_THEN_DOT, dots);
    const found = dots.length;
    addDots(bytes, CR_THEN_DOT, dots);
    if (dots.length === 0) return chunk;
    if (dots.length > found) dots.sort((a, b) => a - b);
    const pieces: Buffer[] = [];
    let from = 0;
    for (const dot of dots) {
      // Each piece ends with its dot and the next begins with it again.
      pieces.push(bytes.subarray(from, dot + 1));
      from = dot;
    }
    pieces.push(bytes.subarray(from));
    return Buffer.concat(pieces);
  }
}

/** Adds the position of the dot in each `pattern`. */
function addDots(bytes: Buffer, pattern: Buffer, dots: number[]): void {
  for (let at = bytes.indexOf(pattern); at >= 0; at = bytes.indexOf(pattern, at + 1)) dots.push(at + 1);
}
