import type { Sliced } from '../lib/clock.ts';
import { encodeBase64 } from './base64.ts';
import { SOFT_LINE } from './field.ts';
import { toLongLines } from './long-text.ts';
import type { Leaf } from './part.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

/** A body as it is written, and the Content-Transfer-Encoding that says so (RFC 2045 §6). */
export interface EncodedBody {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64';
  /** ASCII in every case. */
  readonly body: Leaf['body'];
}

/**
 * Bytes that UTF-8 needs more than there are characters, as a share of all bytes. Above it base64 is the shorter:
 * quoted-printable then escapes more than a sixth of the bytes.
 */
const MAX_EXCESS = 1 / 12;

/** Longer text is encoded in slices. */
const LONG_CHARACTERS = 64 * 1024;

/**
 * Encodes text for the wire: lines end in CRLF, whatever they ended in. Short-lined ASCII stays as it is, mostly
 * ASCII becomes quoted-printable, the rest base64. No line begins with a dot.
 */
export function* encodeText(text: string): Sliced<EncodedBody> {
  const isLong = text.length > LONG_CHARACTERS;
  const lines = isLong ? yield* toLongLines(text) : toLines(text);
  const { bytes } = lines;
  const excess = Buffer.byteLength(text) - text.length;
  if (excess === 0 && lines.isShortLined)
    return { encoding: '7bit', body: typeof bytes === 'string' ? bytes : [bytes] };
  const coded = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  if (excess > coded.length * MAX_EXCESS) return { encoding: 'base64', body: [encodeBase64(coded)] };
  return { encoding: 'quoted-printable', body: yield* encodeQuotedPrintable(coded) };
}

function toLines(text: string) {
  const bytes = withCrlf(text);
  return { bytes, isShortLined: isShortLined(bytes) };
}

/** A lone CR or LF becomes CRLF too. */
function withCrlf(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?|\n/g, '\r\n') : text.replace(/\n/g, '\r\n');
}

/** Whether ASCII text may go as it is: short lines, none beginning with a dot, and no NUL (RFC 2045 §2.7). */
function isShortLined(text: string): boolean {
  if (text.includes('\0')) return false;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\r\n', start);
    const end = found < 0 ? text.length : found;
    if (end - start > SOFT_LINE || text[start] === '.') return false;
    start = end + 2;
  }
  return true;
}
