import type { Placed } from '../../store/postgres/contents.ts';

/** The most that one row holds, in bytes. */
export const PIECE_BYTES = 256 * 1024;

/** One row of the table `contents`, but for its segment. */
export interface Piece {
  readonly offset: number;
  readonly piece: number;
  /** Of the first piece alone. */
  readonly header: Uint8Array | null;
  readonly bytes: Uint8Array;
}

/** A record at its place, as rows. Bytes are copied only where a row spans several chunks, one row at a time. */
export function* piecesOf({ record, ref: { offset } }: Placed): Iterable<Piece> {
  let piece = 0;
  for (const bytes of slices(record.chunks)) {
    yield { offset, piece, header: piece === 0 ? record.header : null, bytes };
    piece++;
  }
}

/** The chunks cut and joined into pieces of {@link PIECE_BYTES}, the last one shorter; one empty piece for no bytes. */
function* slices(chunks: readonly Uint8Array[]): Iterable<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let size = 0;
  let any = false;
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; ) {
      const part = chunk.subarray(at, at + PIECE_BYTES - size);
      gathered.push(part);
      size += part.byteLength;
      at += part.byteLength;
      if (size < PIECE_BYTES) continue;
      yield joined(gathered);
      any = true;
      gathered = [];
      size = 0;
    }
  }
  if (size > 0 || !any) yield joined(gathered);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
