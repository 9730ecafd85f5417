/** Skips quickly over content bytes that cannot be faulty: a file of its own, because it is tuned by measuring. */

const CR = 0x0d;
const WORD = 4;
/** For every byte of a word: CR + 1, and the highest bit. */
const BEYOND_CR = 0x0e0e0e0e;
const HIGH = 0x80808080;

/**
 * The position of the first byte between `from` and `end` that is CR or less, or `end`. Reads four bytes at a time,
 * since most of the cost of a message is here: subtracting borrows into the highest bit of a byte that is too small,
 * and the lowest such bit is exact (borrows only go up).
 */
export function textEnd(bytes: DataView, from: number, end: number): number {
  let at = from;
  const lastWord = end - WORD;
  while (at <= lastWord) {
    const word = bytes.getInt32(at, true);
    const small = (word - BEYOND_CR) & ~word & HIGH;
    if (small !== 0) return at + ((31 - Math.clz32(small & -small)) >> 3);
    at += WORD;
  }
  while (at < end && bytes.getUint8(at) > CR) at++;
  return at;
}
