/** Less is not worth the call, and is soon collected. */
const LEAST_BYTES = 64 * 1024;

/**
 * Gives the memory of bytes back at once, where they have it to themselves; whoever still looks at them finds nothing. For
 * what is large and surely of no use any more: as garbage it would wait until enough small values have come together.
 */
export function giveBack(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength < LEAST_BYTES || byteLength !== buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** As {@link giveBack}, for each of these whose memory is not that of one to be kept as well. */
export function giveBackAllBut(kept: readonly Uint8Array[], pieces: readonly Uint8Array[]): void {
  const large = pieces.filter(({ byteLength }) => byteLength >= LEAST_BYTES);
  if (large.length === 0) return;
  const inUse = new Set(kept.map(({ buffer }) => buffer));
  for (const bytes of large) if (!inUse.has(bytes.buffer)) giveBack(bytes);
}
