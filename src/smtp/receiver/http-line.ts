import type { InputBuffer } from './input.ts';

/**
 * Tells HTTP from SMTP. A health check or a browser pointed at an SMTP port sends first, so it is recognised before the
 * greeting. A web page that posts to an SMTP port is recognised by its first line afterwards.
 */

/** The kind of early talk. */
export type EarlyTalk = 'http' | 'other' | 'maybe';

const HEAD = 'HEAD ';
const LF = 0x0a;
const CR = 0x0d;
/** Bytes of a request line to await before the greeting. */
const MAX_EARLY_LINE = 8192;
/** A whole request line (RFC 9112 §3). */
const REQUEST_LINE = /^[A-Z][A-Z-]{0,23} [^ ]+ HTTP\/\d/;
/** A line that may still become a request line. */
const REQUEST_PREFIX = /^[A-Z][A-Z-]{0,23}(?: [^ ]*(?: (?:H(?:T(?:T(?:P(?:\/[^\n]*)?)?)?)?)?)?)?$/;
/** Can only be a request, however the line goes on: a method of HTTP, followed by a target. */
const REQUEST_BEGIN =
  /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|PROPFIND|PRI) (?:\/|\*|[a-z]+:|[^ ]*:\d)/i;
const LOOSE_REQUEST = /^[a-z-]{1,24} [^ ]+ HTTP\/\d/i;
/** No SMTP command has a colon right after its first word. */
const HEADER_LINE = /^[a-z0-9][a-z0-9!#$%&'*+.^_`|~-]{0,63}:/i;

/**
 * Whether the bytes before the greeting are HTTP; `maybe` until the first line is complete, or longer than awaited. The
 * answer does not depend on chunks.
 */
export function hearEarlyTalk({ bytes, start, end }: InputBuffer): EarlyTalk {
  const lf = bytes.indexOf(LF, start);
  const isWhole = lf >= 0 && lf < end;
  const before = isWhole ? lf : end;
  // Also while the LF is still missing.
  const lineEnd = before > start && bytes[before - 1] === CR ? before - 1 : before;
  const isLong = lineEnd - start > MAX_EARLY_LINE;
  const text = bytes.toString('latin1', start, isLong ? start + MAX_EARLY_LINE : lineEnd);
  const heard = judgeEarlyTalk(text, isWhole && !isLong);
  if (!isLong || heard === 'other') return heard;
  return REQUEST_BEGIN.test(text) ? 'http' : 'other';
}

/** Whether the HTTP request is a HEAD, whose answer has no body (RFC 9110 §9.3.2). */
export function asksForHead({ bytes, start }: InputBuffer): boolean {
  return bytes.toString('latin1', start, start + HEAD.length) === HEAD;
}

/** The same for a first line, or its beginning. */
export function judgeEarlyTalk(text: string, isWholeLine: boolean): EarlyTalk {
  if (isWholeLine) return REQUEST_LINE.test(text) ? 'http' : 'other';
  return REQUEST_PREFIX.test(text) ? 'maybe' : 'other';
}

/** Whether a line after the greeting belongs to an HTTP request. The line may be cut. */
export function isHttpLine(line: string): boolean {
  return LOOSE_REQUEST.test(line) || REQUEST_BEGIN.test(line) || HEADER_LINE.test(line);
}
