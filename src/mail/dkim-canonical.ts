import { createHash, type Hash } from 'node:crypto';
import type { Sliced } from '../lib/clock.ts';
import type { FieldSpan } from './header-block.ts';

/** The relaxed canonical form of headers and bodies (RFC 6376 §3.4.2, §3.4.4), over which signatures are computed. */

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const LINE_END = '\r\n';
/** Bytes of a body to process before other work gets a turn: two milliseconds, most of them for the hash. */
const SLICE_BYTES = 512 * 1024;
/** A body of at most this size is processed as one string. */
const WHOLE_BYTES = 64 * 1024;
/** Gathers text for the hash. It is always empty between uses, so all callers can share it. */
const GATHERED = Buffer.allocUnsafeSlow(32 * 1024);
/** Beyond this the gathered text is hashed: a line end, a blank, a bare CR and a byte may still follow. */
const MOST_GATHERED = GATHERED.length - 8;
/** What the relaxed form changes in a value. No `\s`: in text of one character a byte it matches more blanks. */
const BLANKS = /[\t ]+/g;
const HAS_BLANKS_TO_CHANGE = /[\t\r]| {2}/;
/** What it changes in a body, except at its end. Searched for as bytes, which is faster than expressions over text. */
const TO_CHANGE_IN_BODY = ['\t', '  ', ' \r\n'].map((text) => Buffer.from(text));
/** Of those, the runs that become one blank, and the blanks dropped at line ends. */
const RUNS = /[\t ]{2,}|\t/g;
const BLANK_AT_LINE_END = / \r\n/g;
const FOLDS = /\r\n/g;
/** Tries a run at the end only from its beginning: trying every blank of every run would take quadratic time. */
const BLANK_ENDS = /^[\t ]+|(?<![\t ])[\t ]+$/g;

/**
 * A header field in relaxed form, its CRLF included. `raw` is all its lines as they are in the message, one character
 * for each byte, and so is the result.
 */
export function relaxedField(raw: string): string {
  const colon = raw.indexOf(':');
  const name = raw.slice(0, colon).replace(BLANK_ENDS, '').toLowerCase();
  const lines = raw.endsWith(LINE_END) ? raw.slice(colon + 1, -LINE_END.length) : raw.slice(colon + 1);
  const value = HAS_BLANKS_TO_CHANGE.test(lines)
    ? lines.replace(FOLDS, '').replace(BLANKS, ' ').replace(BLANK_ENDS, '')
    : lines.replace(BLANK_ENDS, '');
  return `${name}:${value}${LINE_END}`;
}

/**
 * The SHA-256 of a body in relaxed form, without the first `skip` bytes of the chunks. A body of at most `wholeBytes`
 * is processed as one string, a larger one chunk by chunk; the result is the same.
 */
export function* relaxedBodyHash(
  chunks: readonly Uint8Array[],
  skip: number,
  wholeBytes = WHOLE_BYTES,
): Sliced<Buffer> {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0) - skip;
  if (length <= wholeBytes) return wholeBodyHash(Buffer.concat(chunks).subarray(skip));
  const body = new RelaxedBody();
  let left = skip;
  let sinceTurn = 0;
  for (const piece of chunks) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const first = Math.min(left, chunk.length);
    left -= first;
    for (let at = first; at < chunk.length; ) {
      if (sinceTurn >= SLICE_BYTES) {
        yield;
        sinceTurn = 0;
      }
      const end = Math.min(chunk.length, at + SLICE_BYTES - sinceTurn);
      body.push(chunk, at, end);
      sinceTurn += end - at;
      at = end;
    }
  }
  return body.digest();
}

function wholeBodyHash(body: Buffer): Buffer {
  let text = body.toString('latin1');
  if (TO_CHANGE_IN_BODY.some((blanks) => body.includes(blanks)))
    // Runs first: afterwards no expression has to backtrack.
    text = text.replace(RUNS, ' ').replace(BLANK_AT_LINE_END, LINE_END);
  let end = text.length;
  if (text.endsWith(' ')) end--;
  while (end >= LINE_END.length && text.startsWith(LINE_END, end - LINE_END.length)) end -= LINE_END.length;
  const hash = createHash('sha256');
  if (end > 0) hash.update(text.slice(0, end), 'latin1').update(LINE_END);
  return hash.digest();
}

/** Hashes a body as it arrives. Lines end in CRLF; a bare CR or LF is ordinary text. */
class RelaxedBody {
  readonly #hash: Hash = createHash('sha256');
  /** Line ends since the last text: at the end, only one of them counts. */
  #lineEnds = 0;
  /** Blanks since the last text of this line: at its end, none counts. */
  #blank = false;
  /** The last byte was a CR, which may begin a line end. */
  #cr = false;
  #hasText = false;

  push(bytes: Buffer, from: number, to: number): void {
    const part = bytes.subarray(from, to);
    if (TO_CHANGE_IN_BODY.some((blanks) => part.includes(blanks))) {
      this.#each(bytes, from, to);
      return;
    }
    // Nothing changes except at the ends, whose neighbours are unknown here.
    let first = from;
    while (first < to && (bytes[first] ?? 0) <= SPACE) first++;
    let last = to;
    while (last > first && (bytes[last - 1] ?? 0) <= SPACE) last--;
    this.#each(bytes, from, Math.min(first + 1, to));
    if (last > first + 1) this.#hash.update(bytes.subarray(first + 1, last));
    this.#each(bytes, Math.max(first + 1, last), to);
  }

  digest(): Buffer {
    if (this.#cr) this.#hash.update(this.#lineStart() + (this.#blank ? ' \r' : '\r'));
    if (this.#hasText || this.#cr) this.#hash.update(LINE_END);
    return this.#hash.digest();
  }

  /** Byte by byte. Most bytes are text, so they are tested first. */
  #each(bytes: Buffer, from: number, to: number): void {
    const out = GATHERED;
    let blank = this.#blank;
    let cr = this.#cr;
    let lineEnds = this.#lineEnds;
    let length = 0;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (length > MOST_GATHERED) length = this.#sum(length);
      if (byte <= SPACE) {
        if (cr && byte === LF) {
          lineEnds += 1;
          cr = false;
          blank = false;
          continue;
        }
        if (!cr && (byte === SPACE || byte === TAB || byte === CR)) {
          if (byte === CR) cr = true;
          else blank = true;
          continue;
        }
      }
      for (; lineEnds > 0; lineEnds--) {
        if (length > MOST_GATHERED) length = this.#sum(length);
        out[length++] = CR;
        out[length++] = LF;
      }
      if (blank) out[length++] = SPACE;
      blank = false;
      if (cr) {
        // A bare CR.
        out[length++] = CR;
        cr = byte === CR;
        blank = byte === SPACE || byte === TAB;
        if (cr || blank) continue;
      }
      out[length++] = byte;
    }
    this.#blank = blank;
    this.#cr = cr;
    this.#lineEnds = lineEnds;
    this.#sum(length);
  }

  /** Hashes the gathered text. Returns the new length, 0. */
  #sum(length: number): 0 {
    if (length === 0) return 0;
    this.#hasText = true;
    this.#hash.update(GATHERED.subarray(0, length));
    return 0;
  }

  #lineStart(): string {
    return LINE_END.repeat(this.#lineEnds);
  }
}

// Selects the header fields to sign (RFC 6376 §5.4). Each name is listed once more than it occurs, so that none can be
// added without breaking the signature: readers differ in which of two they show.

/** Signed even if absent: adding one would change author, reply address, subject, or how the body is read. */
const ALWAYS = [
  'from',
  'to',
  'cc',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
];
/** Signed if present. Mailing lists add them to mail they pass on, which must not break the signature. */
const WHERE_PRESENT = new Set([
  'sender',
  'in-reply-to',
  'references',
  'feedback-id',
  'list-id',
  'list-help',
  'list-subscribe',
  'list-unsubscribe',
  'list-unsubscribe-post',
  // Whom a TLS report is about, and who vouches for it (RFC 8460 §5.3).
  'tls-report-domain',
  'tls-report-submitter',
]);
/** All of these are signed too. */
const FAMILIES = /^(?:content|list)-[!-9;-~]+$/;
/** A header with more fields to sign is not real mail; its signature would be just as long. */
export const MAX_SIGNED_FIELDS = 500;

/**
 * The names for `h=`, in lower case, in hashing order; null when there are too many fields. Fields that change on the
 * way are never included: Received, Return-Path, Bcc, and signatures.
 */
export function signedNames(fields: readonly Pick<FieldSpan, 'lowerName'>[]): readonly string[] | null {
  const counts = new Map<string, number>(ALWAYS.map((name) => [name, 0]));
  let count = 0;
  for (const { lowerName } of fields) {
    const before = counts.get(lowerName);
    if (before === undefined && !WHERE_PRESENT.has(lowerName) && !FAMILIES.test(lowerName)) continue;
    counts.set(lowerName, (before ?? 0) + 1);
    count += 1;
    if (count > MAX_SIGNED_FIELDS) return null;
  }
  return [...counts].flatMap(([name, present]) => new Array<string>(present + 1).fill(name));
}

/**
 * The names for a signature that replaces one valid with `names` for the fields `before`, now that they were converted
 * to `after`. Signs no other fields: an unsigned one may come from anybody. Where none could be added, none can be
 * added now.
 */
export function namesAgain(
  names: readonly string[],
  before: readonly Pick<FieldSpan, 'lowerName'>[],
  after: readonly Pick<FieldSpan, 'lowerName'>[],
): readonly string[] {
  const listed = countsOf(names);
  const was = countsOf(before.map(({ lowerName }) => lowerName));
  const is = countsOf(after.map(({ lowerName }) => lowerName));
  return [...listed].flatMap(([name, count]) => {
    const wasClosed = count > (was.get(name) ?? 0);
    return new Array<string>(wasClosed ? (is.get(name) ?? 0) + 1 : count).fill(name);
  });
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/**
 * The fields listed in `names` in relaxed form, one character for each byte: of fields with the same name the last
 * comes first, and names without a (remaining) field count as empty (RFC 6376 §5.4.2). `text` is the header.
 */
export function signedText(text: string, fields: readonly FieldSpan[], names: readonly string[]): string {
  const left = new Map<string, FieldSpan[]>();
  for (const name of names) left.set(name, []);
  for (const field of fields) left.get(field.lowerName)?.push(field);
  let signed = '';
  for (const name of names) {
    const field = left.get(name)?.pop();
    if (field !== undefined) signed += relaxedField(text.slice(field.start, field.end));
  }
  return signed;
}
