import type { InputBuffer } from './input.ts';

/**
 * Telling HTTP from SMTP. A health check or a browser that is pointed at an SMTP port speaks first, and so is seen
 * before the greeting. A page in a browser that posts to an SMTP port is seen by its first line after it.
 */

/** What early talk is. */
export type EarlyTalk = 'http' | 'other' | 'maybe';

const HEAD = 'HEAD ';
const LF = 0x0a;
const CR = 0x0d;
/** Bytes of a request line that are awaited before the greeting. */
const MAX_EARLY_LINE = 8192;
/** A whole request line (RFC 9112 §3). */
const REQUEST_LINE = /^[A-Z][A-Z-]{0,23} [^ ]+ HTTP\/\d/;
/** A line may still become a request line. */
const REQUEST_PREFIX = /^[A-Z][A-Z-]{0,23}(?: [^ ]*(?: (?:H(?:T(?:T(?:P(?:\/[^\n]*)?)?)?)?)?)?)?$/;
/** What can be nothing but a request, however its line goes on: the methods of HTTP, and a target behind. */
const REQUEST_BEGIN =
  /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|PROPFIND|PRI) (?:\/|\*|[a-z]+:|[^ ]*:\d)/i;
const LOOSE_REQUEST = /^[a-z-]{1,24} [^ ]+ HTTP\/\d/i;
/** No command of SMTP has a colon right behind its first word. */
const HEADER_LINE = /^[a-z0-9][a-z0-9!#$%&'*+.^_`|~-]{0,63}:/i;

/**
 * Whether what a peer has said before the greeting is HTTP; `maybe` until its first line is complete, or longer than is
 * awaited. However it is cut, the answer is the same.
 */
export function hearEarlyTalk({ bytes, start, end }: InputBuffer): EarlyTalk {
  const lf = bytes.indexOf(LF, start);
  const isWhole = lf >= 0 && lf < end;
  const before = isWhole ? lf : end;
  // Also where the LF is still to come.
  const lineEnd = before > start && bytes[before - 1] === CR ? before - 1 : before;
  const isLong = lineEnd - start > MAX_EARLY_LINE;
  const text = bytes.toString('latin1', start, isLong ? start + MAX_EARLY_LINE : lineEnd);
  const heard = judgeEarlyTalk(text, isWhole && !isLong);
  if (!isLong || heard === 'other') return heard;
  return REQUEST_BEGIN.test(text) ? 'http' : 'other';
}

/** Whether HTTP that was heard asks for a header alone: what answers it has no body (RFC 9110 §9.3.2). */
export function asksForHead({ bytes, start }: InputBuffer): boolean {
  return bytes.toString('latin1', start, start + HEAD.length) === HEAD;
}

/** The same of a first line, or of its beginning. */
export function judgeEarlyTalk(text: string, isWholeLine: boolean): EarlyTalk {
  if (isWholeLine) return REQUEST_LINE.test(text) ? 'http' : 'other';
  return REQUEST_PREFIX.test(text) ? 'maybe' : 'other';
}

/** Whether a line after the greeting is one of an HTTP request. The line may be cut. */
export function isHttpLine(line: string): boolean {
  return LOOSE_REQUEST.test(line) || REQUEST_BEGIN.test(line) || HEADER_LINE.test(line);
}
