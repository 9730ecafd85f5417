/** Reed-Solomon codes over GF(256), as QR codes use them: x⁸ + x⁴ + x³ + x² + 1. */

const POLYNOMIAL = 0x11d;

function multiply(a: number, b: number): number {
  let product = 0;
  let factor = a;
  for (let rest = b; rest > 0; rest >>= 1) {
    if (rest & 1) product ^= factor;
    factor <<= 1;
    if (factor > 0xff) factor ^= POLYNOMIAL;
  }
  return product;
}

/** The generator of so many correction codewords: highest power first, without its leading 1. */
function generator(degree: number): Uint8Array {
  const result = new Uint8Array(degree);
  result[degree - 1] = 1;
  let root = 1;
  for (let round = 0; round < degree; round++) {
    for (let at = 0; at < degree; at++)
      result[at] = multiply(result[at] ?? 0, root) ^ (at + 1 < degree ? (result[at + 1] ?? 0) : 0);
    root = multiply(root, 2);
  }
  return result;
}

/** The correction codewords of a block. */
export function correctionOf(block: Uint8Array, degree: number): Uint8Array {
  const divisor = generator(degree);
  let rest = new Uint8Array(degree);
  for (const word of block) {
    const factor = word ^ (rest[0] ?? 0);
    rest = Uint8Array.from(rest, (_, at) => (rest[at + 1] ?? 0) ^ multiply(divisor[at] ?? 0, factor));
  }
  return rest;
}
