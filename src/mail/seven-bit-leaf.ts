/** Encoding the body of one part that an older server does not take as it is (RFC 2045 §6). */
import type { Sliced } from '../lib/slices.ts';
import { encodeBase64 } from './base64.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

/** Encodings that a body may have. */
export type LeafEncoding = 'quoted-printable' | 'base64';

/** A body as it is written. */
export interface EncodedLeaf {
  readonly encoding: LeafEncoding;
  readonly body: readonly Uint8Array[];
}

const ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);
/** A line end that is not CRLF, or what no line may have: quoted-printable text cannot say it. */
const NOT_TEXT = /\r(?!\n)|(?<!\r)\n|\0/;
/** Where encoding has broken a line in the middle, something that could be taken for a boundary. */
const NEW_BOUNDARY = Buffer.from('=\r\n--');

/** Whether a Content-Transfer-Encoding (lower case) is one that can be decoded. */
export function isEncoding(encoding: string): boolean {
  return ENCODINGS.has(encoding);
}

/** Encodes a body, decoding it first if it was encoded badly. Text becomes quoted-printable, if it can; the rest base64. */
export function* encodeLeaf(body: Buffer, isText: boolean, encoding: string): Sliced<EncodedLeaf> {
  const bytes = decode(body, encoding);
  yield;
  if (isText && !NOT_TEXT.test(bytes.toString('latin1'))) {
    const encoded = yield* encodeQuotedPrintable(bytes);
    const whole = Buffer.concat(encoded);
    if (!whole.includes(NEW_BOUNDARY)) return { encoding: 'quoted-printable', body: [whole] };
  }
  return { encoding: 'base64', body: [encodeBase64(bytes)] };
}

function decode(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64');
  if (encoding !== 'quoted-printable') return body;
  const text = body
    .toString('latin1')
    .replace(/(?<![\t ])[\t ]+(?=\r\n|$)/g, '')
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(text, 'latin1');
}
