/** Cutting the body of a multipart at its boundaries (RFC 2046 §5.1.1), so that joining the pieces gives it back. */

import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';

/** One part, and the boundary line before it. */
export interface SplitPart {
  /** With the CRLF before it, which belongs to it, and the one behind. */
  readonly delimiter: Buffer;
  readonly part: Buffer;
}

/** A body in pieces, in order. */
export interface SplitMultipart {
  readonly preamble: Buffer;
  readonly parts: readonly SplitPart[];
  /** The last boundary line, without its CRLF; empty when it is missing. */
  readonly close: Buffer;
  readonly epilogue: Buffer;
}

/** Longer ones are no boundaries: RFC 2046 allows 70 characters, and programs have been seen to write more. */
const MAX_BOUNDARY = 200;
const MAX_PARTS = 10_000;
/** A boundary line behind the boundary. */
const REST_OF_LINE = /^(--)?[ \t]*(?:\r\n|$)/;
const MAX_REST = 256;

interface BoundaryLine {
  /** With the CRLF before it. */
  readonly start: number;
  readonly end: number;
  readonly closes: boolean;
}

/** Null for a boundary that cannot be one, a body without it, or one of too many parts. */
export function* splitMultipart(body: Buffer, boundary: string): Sliced<SplitMultipart | null> {
  if (boundary === '' || boundary.length > MAX_BOUNDARY) return null;
  const lines = yield* boundaryLines(body, boundary);
  const [first] = lines;
  if (first === undefined || first.closes || lines.length > MAX_PARTS) return null;
  const last = lines.at(-1);
  const closing = last?.closes ? last : null;
  const opening = closing ? lines.slice(0, -1) : lines;
  const parts = opening.map(({ start, end }, index) => {
    const next = lines[index + 1]?.start ?? body.length;
    return { delimiter: body.subarray(start, end), part: body.subarray(end, Math.max(end, next)) };
  });
  return {
    preamble: body.subarray(0, first.start),
    parts,
    close: closing
      ? body.subarray(Math.max(closing.start, partsEnd(opening)), closing.end)
      : body.subarray(0, 0),
    epilogue: closing ? body.subarray(closing.end) : body.subarray(0, 0),
  };
}

function partsEnd(opening: readonly BoundaryLine[]): number {
  return opening.at(-1)?.end ?? 0;
}

/** Up to the first that closes. */
function* boundaryLines(body: Buffer, boundary: string): Sliced<BoundaryLine[]> {
  const marker = Buffer.from(`--${boundary}`);
  const lines: BoundaryLine[] = [];
  let before = 0;
  let slice = SLICE_BYTES;
  for (let at = body.indexOf(marker); at >= 0; at = body.indexOf(marker, at + 1)) {
    // A body may be made of what looks like boundaries.
    if (at > slice) {
      yield;
      slice = at + SLICE_BYTES;
    }
    const beginsLine = at === 0 || (body[at - 1] === 0x0a && body[at - 2] === 0x0d);
    if (!beginsLine) continue;
    const behind = at + marker.length;
    const rest = REST_OF_LINE.exec(body.toString('latin1', behind, behind + MAX_REST));
    if (rest === null) continue;
    // What is cut off here may be of the line.
    if (!rest[0].endsWith('\n') && behind + rest[0].length < body.length) continue;
    const closes = rest[1] !== undefined;
    // The CRLF before a boundary is of the boundary, unless it ends the boundary before.
    const start = Math.max(at === 0 ? 0 : at - 2, before);
    const end = behind + rest[0].length;
    lines.push({ start, end, closes });
    if (closes || lines.length > MAX_PARTS) break;
    before = end;
  }
  return lines;
}
