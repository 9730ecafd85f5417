import type { Recipient } from '../domain/message.ts';
import type { Reply } from '../domain/outcome.ts';
import type { Sliced } from '../lib/clock.ts';
import { foldableWords, writeField } from './field.ts';
import { shownSubject } from './finished.ts';
import { readLooseHeader } from './header-block.ts';
import { hasLeadingDot, isSevenBitLines, type Leaf } from './part.ts';
import { addressLiteral, formatDate } from './trace.ts';
import { encodeQuotedPrintable } from './transfer-encoding.ts';

/** The contents of a delivery status notification (RFC 3464): its part for programs, and the returned message. */

/** The action for a recipient (RFC 3464 §2.3.3). */
export type ReportAction = 'failed' | 'delayed' | 'delivered' | 'relayed';

/** A recipient, and the fate of its copy. */
export interface ReportedRecipient {
  readonly recipient: Pick<Recipient, 'address' | 'orcpt'>;
  readonly action: ReportAction;
  /** Delivery was abandoned because it had waited too long. */
  readonly expired: boolean;
  /** The last reply; null when it was never tried. Hostile: a peer wrote it. */
  readonly reply: Reply | null;
  /** The host that gave it; null if none was reached, or it is no longer known. */
  readonly host: string | null;
  /** Wall ms of the last attempt; null if there was none, or it is no longer known. */
  readonly triedAt: number | null;
  /** Wall ms until which it is tried; only used for delayed recipients. */
  readonly triedUntil: number;
}

/** A report on one message. */
export interface Report {
  /** This server's host name. */
  readonly hostname: string;
  /** The reverse-path of the message. */
  readonly to: string;
  /** Its own, with angle brackets. */
  readonly messageId: string;
  /** Wall ms. */
  readonly date: number;
  /** Our id of the message, and when it arrived (wall ms). */
  readonly message: { readonly id: string; readonly envid: string | null; readonly arrivedAt: number };
  /** At least one; each address once. */
  readonly recipients: readonly ReportedRecipient[];
  readonly returned: Returned;
}

// The returned part of the original message (RFC 6522 §3, part 3), and what the report says of it.

/** The beginning of a stored message: all of it, or enough for the largest returned part. */
export interface Beginning {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/** The returned part, with the message's identification. */
export interface Returned {
  /** Null if nothing can be returned. */
  readonly part: Leaf | null;
  /** With its angle brackets; null if there is none fit for a reference. */
  readonly messageId: string | null;
  /** Decoded; empty when there is none. Hostile text of one line. */
  readonly subject: string;
}

/** Most bytes of a message to return: of a larger one the header, and of a larger header the first fields. */
export const MAX_RETURNED_BYTES = 64 * 1024;
/** The result for an unreadable message. */
export const NOTHING_RETURNED: Returned = { part: null, messageId: null, subject: '' };

const CRLF = '\r\n';
const BLANK_LINE = '\r\n\r\n';
/** RFC 5322 §3.6.4, without the obsolete forms; fits on a line. */
const MESSAGE_ID = /^<[!-;=?-~]{1,250}>$/;

/**
 * Returns a whole message (`full`) if it is all there and 7-bit, otherwise its header. A header that is not 7-bit is
 * encoded (RFC 6522 §4); a message may not be (RFC 2046 §5.2.1), and many programs do not read message/global-headers.
 */
export function* returnedOf({ bytes, isWhole }: Beginning, full: boolean): Sliced<Returned> {
  const header = headerOf(bytes, isWhole);
  const mayBeWhole = full && isWhole && bytes.length <= MAX_RETURNED_BYTES && isSevenBitLines(bytes);
  const part = mayBeWhole ? verbatim('message/rfc822', bytes) : yield* headerPart(header);
  return { part, ...toldOf(header) };
}

/** The header, without the blank line after it; of one that is too large, the complete fields. */
function headerOf(bytes: Buffer, isWhole: boolean): Buffer {
  const most = bytes.subarray(0, MAX_RETURNED_BYTES);
  if (most.indexOf(CRLF) === 0) return most.subarray(0, 0);
  const end = most.indexOf(BLANK_LINE);
  if (end >= 0) return most.subarray(0, end + CRLF.length);
  if (isWhole && most.length === bytes.length) return most;
  let at = most.lastIndexOf(CRLF);
  while (at >= 0 && isContinued(most, at + CRLF.length)) at = most.lastIndexOf(CRLF, at - 1);
  return most.subarray(0, at < 0 ? 0 : at + CRLF.length);
}

/** Whether the text here continues the field before it, or may: at the end nobody can tell. */
function isContinued(bytes: Buffer, at: number): boolean {
  const byte = bytes[at];
  return byte === undefined || byte === 0x20 || byte === 0x09;
}

function* headerPart(header: Buffer): Sliced<Leaf | null> {
  if (header.length === 0) return null;
  if (isSevenBitLines(header)) return verbatim('text/rfc822-headers', header);
  return {
    kind: 'leaf',
    fields: mimeFields('text/rfc822-headers', 'quoted-printable'),
    body: yield* encodeQuotedPrintable(header),
    dotStuffing: false,
  };
}

function verbatim(type: string, bytes: Buffer): Leaf {
  return { kind: 'leaf', fields: mimeFields(type, '7bit'), body: [bytes], dotStuffing: hasLeadingDot(bytes) };
}

function mimeFields(type: string, encoding: string): string {
  return `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n`;
}

function toldOf(header: Buffer): Omit<Returned, 'part'> {
  const fields = readLooseHeader(header.toString('latin1'), header.length)?.fields ?? [];
  const textOf = (name: string) => fields.find(({ lowerName }) => lowerName === name)?.value ?? '';
  const messageId = textOf('message-id');
  return {
    messageId: MESSAGE_ID.test(messageId) ? messageId : null,
    subject: shownSubject(textOf('subject')),
  };
}

// The machine-readable part of a report: message/delivery-status (RFC 3464 §2). Always ASCII.

/** Characters of a peer's reply to include. */
const MAX_REPLY = 500;
/** Characters of a host's name to include; no name is longer. */
const MAX_HOST = 255;
/** Looks like an address, not a name. */
const IP_ADDRESS = /^[\d.]+$|:/;
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]+/g;
const BLANKS = / {2,}/g;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const XTEXT_ESCAPE = /\+([0-9A-F]{2})/g;
const ENHANCED = /^([245])\.\d{1,3}\.\d{1,3}$/;
/** RFC 3463 §3.5: delivery time expired. */
const EXPIRED = '4.4.7';
/** Characters that RFC 6533 §3 encodes in an address's 7-bit form. */
const UNSAFE_IN_ADDRESS = /[^!-*,-<>-[\]-~]/gu;

/** The class of a recipient's status (RFC 3463 §2), by its action. */
const CLASSES: Readonly<Record<ReportAction, string>> = {
  failed: '5',
  delayed: '4',
  delivered: '2',
  relayed: '2',
};

/** The body of the part: the message's fields, then a group for each recipient. */
export function deliveryStatus({ hostname, message, recipients }: Report): string {
  const { envid, id, arrivedAt } = message;
  const perMessage =
    writeField('Reporting-MTA', ['dns;', hostname]) +
    (envid === null ? '' : writeField('Original-Envelope-Id', [decodeXtext(envid)])) +
    writeField('Arrival-Date', [formatDate(arrivedAt)]) +
    writeField('X-Waybill-Id', [id]);
  return [perMessage, ...recipients.map(perRecipient)].join('\r\n');
}

function perRecipient(reported: ReportedRecipient): string {
  const { recipient, action, reply, host, triedAt, triedUntil } = reported;
  const { address, orcpt } = recipient;
  const original = orcpt === null ? '' : writeField('Original-Recipient', originalRecipient(orcpt));
  const remote = reply === null || reply.code === null || host === null ? null : plainLine(host, MAX_HOST);
  return (
    original +
    writeField('Final-Recipient', typedAddress('rfc822', address)) +
    writeField('Action', [action]) +
    writeField('Status', [statusOf(reported)]) +
    (remote === null || remote === '' ? '' : writeField('Remote-MTA', ['dns;', hostName(remote)])) +
    (reply === null ? '' : writeField('Diagnostic-Code', diagnostic(reply))) +
    (triedAt === null ? '' : writeField('Last-Attempt-Date', [formatDate(triedAt)])) +
    (action === 'delayed' ? writeField('Will-Retry-Until', [formatDate(triedUntil)]) : '')
  );
}

/** A host known by its address has no name: RFC 3464 §2.3.5 requires the literal. */
function hostName(host: string): string {
  return IP_ADDRESS.test(host) ? addressLiteral(host) : host;
}

/** The status code of a recipient (RFC 3464 §2.3.4): the reply's, if it agrees with the action. */
export function statusOf({
  action,
  expired,
  reply,
}: Pick<ReportedRecipient, 'action' | 'expired' | 'reply'>): string {
  if (expired) return EXPIRED;
  const enhanced = reply?.enhanced ?? '';
  const wanted = CLASSES[action];
  return ENHANCED.exec(enhanced)?.[1] === wanted ? enhanced : `${wanted}.0.0`;
}

/** The peer's words, or ours if it could not answer. */
function diagnostic({ code, enhanced, cause, text }: Reply): string[] {
  const said = plainLine(text, MAX_REPLY);
  return foldableWords(plainLine(`${spoken()} ${said}`, 2 * MAX_REPLY));

  /** A provider's code is an HTTP status, which means something else in SMTP (RFC 3464 §2.3.6 names the type). */
  function spoken(): string {
    if (code === null) return `x-waybill; ${cause}:`;
    return cause.startsWith('provider_') ? `x-http; ${code}` : `smtp; ${code} ${enhanced ?? ''}`;
  }
}

/** Hostile text as one line of printable ASCII with single blanks, so that it can only be folded. */
function plainLine(text: string, most: number): string {
  const plain = text.replace(NOT_PRINTABLE_ASCII, (run) => (/^\s+$/.test(run) ? ' ' : '?'));
  return plain.replace(BLANKS, ' ').trim().slice(0, most).trim();
}

/** Decodes xtext (RFC 3461 §4); leaves it if the result could not be in a field. */
export function decodeXtext(xtext: string): string {
  const decoded = xtext.replace(XTEXT_ESCAPE, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const isSafe = PRINTABLE_ASCII.test(decoded) && decoded.trim() === decoded && !decoded.includes('  ');
  return isSafe ? decoded : xtext;
}

/** The words of ORCPT as given: `rfc822;xtext`, or `utf-8;` and an address in either form (RFC 6533 §3). */
function originalRecipient(orcpt: string): string[] {
  const end = orcpt.indexOf(';');
  const type = orcpt.slice(0, end).toLowerCase();
  const address = orcpt.slice(end + 1);
  if (!PRINTABLE_ASCII.test(address)) return typedAddress('utf-8', address);
  return [`${type};`, type === 'utf-8' ? address : decodeXtext(address)];
}

/** An address with its type; a non-ASCII one in the 7-bit form of RFC 6533 §3. */
function typedAddress(type: string, address: string): string[] {
  if (PRINTABLE_ASCII.test(address)) return [`${type};`, address];
  const escaped = address.replace(UNSAFE_IN_ADDRESS, (char) => {
    const hex = (char.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `\\x{${hex.padStart(2, '0')}}`;
  });
  return ['utf-8;', escaped];
}
