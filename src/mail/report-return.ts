import type { Sliced } from '../lib/clock.ts';
import { hasLeadingDot, isSevenBitLines } from './attachment.ts';
import { shownSubject } from './finished.ts';
import { readLooseHeader } from './header-block.ts';
import type { Leaf } from './part.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

/** What a report returns of the message it is about (RFC 6522 §3, part 3), and what it tells of it. */

/** The beginning of a stored message: all of it, or enough for what is returned at most. */
export interface Beginning {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/** See above. */
export interface Returned {
  /** Null when nothing can be returned. */
  readonly part: Leaf | null;
  /** With its angle brackets; null when there is none that could be referred to. */
  readonly messageId: string | null;
  /** Decoded; empty when there is none. Hostile text of one line. */
  readonly subject: string;
}

/** Most bytes of a message that are returned: a larger one comes as its header, and of a larger header the first fields. */
export const MAX_RETURNED_BYTES = 64 * 1024;
/** What is said of a message that cannot be read. */
export const NOTHING_RETURNED: Returned = { part: null, messageId: null, subject: '' };

const CRLF = '\r\n';
const BLANK_LINE = '\r\n\r\n';
/** RFC 5322 §3.6.4, without the obsolete forms; what fits on a line. */
const MESSAGE_ID = /^<[!-;=?-~]{1,250}>$/;

/**
 * Returns a message whole (`full`), where it is all there and 7-bit, else its header. A header that is not 7-bit is
 * encoded (RFC 6522 §4); a message may not be (RFC 2046 §5.2.1), and many programs do not read message/global-headers.
 */
export function* returnedOf({ bytes, isWhole }: Beginning, full: boolean): Sliced<Returned> {
  const header = headerOf(bytes, isWhole);
  const mayBeWhole = full && isWhole && bytes.length <= MAX_RETURNED_BYTES && isSevenBitLines(bytes);
  const part = mayBeWhole ? verbatim('message/rfc822', bytes) : yield* headerPart(header);
  return { part, ...toldOf(header) };
}

/** The header, without the blank line behind it; of one that is too large the fields that are there in full. */
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

/** Whether what begins here belongs to the field before it, or may: nobody can tell at the end. */
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
