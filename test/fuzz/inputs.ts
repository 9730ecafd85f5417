/** What generators of inputs have in common. */
import fc from 'fast-check';

/** Text made of the given pieces, which mean something to a grammar, and of some that mean nothing. */
export function textOf(...pieces: readonly [string, ...string[]]): fc.Arbitrary<string> {
  const noise = fc.oneof(
    fc.constantFrom('\0', '\r', '\n', '\r\n', ' ', '\t', '\x7f', 'ä', '\u2028', '\ud800', '👩‍🚀', '\ufeff'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pieces) },
    { weight: 1, arbitrary: noise },
  );
  return fc.array(piece, { maxLength: 16 }).map((found) => found.join(''));
}

/** Bytes cut into pieces at the given places, in order. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

/** Every byte by itself. */
export function eachByte(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.of(byte));
}
