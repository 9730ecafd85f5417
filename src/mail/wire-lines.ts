import { HARD_LINE } from './field.ts';
import type { Fault } from './headers.ts';

/** The lines of a finished message that somebody else composed (RFC 5322 §2.1, §2.3; RFC 5321 §2.3.8). */

const LF = 0x0a;
const CR = 0x0d;
const CRLF = Buffer.from('\r\n');

/** A message whose every line ends in CRLF, or the first thing that is wrong with its lines. */
export type WireLines =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly fault: Fault };

/**
 * Brings a message into its wire form. Lines end all in CRLF, or all in LF, which become CRLF; nothing else is
 * changed but that the last line is ended. Refused are mixed line endings, a CR by itself and NUL, which programs
 * read differently, and lines that no server need take. Linear in the size of the message.
 */
export function toWireLines(message: Buffer): WireLines {
  const nul = message.indexOf(0);
  if (nul >= 0) return refuse('nul', lineAt(message, nul), 'has a NUL byte; encode binary content as base64');
  const scanned = scanLines(message);
  if (!scanned.ok) return scanned;
  const { lines, isCrlf } = scanned;
  const isEnded = message.length > 0 && message[message.length - 1] === LF;
  if (!isCrlf) return { ok: true, bytes: withCrlf(message, lines) };
  return { ok: true, bytes: isEnded ? message : Buffer.concat([message, CRLF]) };
}

type Scanned =
  | { readonly ok: true; readonly lines: number; readonly isCrlf: boolean }
  | { readonly ok: false; readonly fault: Fault };

/** Counts the lines and holds them all to the ending of the first. */
function scanLines(message: Buffer): Scanned {
  const first = message.indexOf(LF);
  const isCrlf = first > 0 && message[first - 1] === CR;
  let cr = message.indexOf(CR);
  let line = 0;
  for (let start = 0; start < message.length; ) {
    line += 1;
    const lf = message.indexOf(LF, start);
    const hasCr = lf > start && message[lf - 1] === CR;
    const end = lf < 0 ? message.length : lf;
    const textEnd = hasCr ? end - 1 : end;
    if (cr >= 0 && cr < textEnd)
      return refuse('bare_cr', line, 'has a CR that no LF follows; end lines in CRLF');
    if (lf >= 0 && hasCr !== isCrlf)
      return refuse(
        'mixed_line_endings',
        line,
        'ends otherwise than the first; end all lines in CRLF, or all in LF',
      );
    if (textEnd - start > HARD_LINE)
      return refuse(
        'line_too_long',
        line,
        `has more than ${HARD_LINE} bytes; encode it as quoted-printable or base64`,
      );
    if (cr >= 0 && cr < end) cr = message.indexOf(CR, end);
    start = end + 1;
  }
  return { ok: true, lines: line, isCrlf };
}

/** Copies a message of this many LF lines with a CR before each LF, the last line ended. */
function withCrlf(message: Buffer, lines: number): Buffer {
  const copy = Buffer.allocUnsafe(message.length + lines + 1);
  let at = 0;
  for (let start = 0; start < message.length; ) {
    const lf = message.indexOf(LF, start);
    const end = lf < 0 ? message.length : lf;
    at += message.copy(copy, at, start, end);
    at += CRLF.copy(copy, at);
    start = end + 1;
  }
  return copy.subarray(0, at);
}

function lineAt(message: Buffer, place: number): number {
  let line = 1;
  for (let lf = message.indexOf(LF); lf >= 0 && lf < place; lf = message.indexOf(LF, lf + 1)) line += 1;
  return line;
}

function refuse(code: string, line: number, detail: string): { readonly ok: false; readonly fault: Fault } {
  return { ok: false, fault: { code, detail: `Line ${line} ${detail}.` } };
}
