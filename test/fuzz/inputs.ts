/** What generators of inputs have in common. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { Problem } from '../../src/http/problem.ts';

/** Any code points. `fc.string` would give them too, by a table of them all that takes a second and a hundred megabytes. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.nat(0x10ffff), { maxLength }).map((points) => String.fromCodePoint(...points));
}

/** Text made of the given pieces, which mean something to a grammar, and of some that mean nothing. */
export function textOf(...pieces: readonly [string, ...string[]]): fc.Arbitrary<string> {
  const noise = fc.oneof(
    fc.constantFrom('\0', '\r', '\n', '\r\n', ' ', '\t', '\x7f', 'ä', '\u2028', '\ud800', '👩‍🚀', '\ufeff'),
    anyText(3),
  );
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pieces) },
    { weight: 1, arbitrary: noise },
  );
  return fc.array(piece, { maxLength: 16 }).map((found) => found.join(''));
}

/** Text in lines that CRLF ends, whatever ended them before. */
export function inCrlf(text: string): string {
  return text.split(/\r\n|\r|\n/).join('\r\n');
}

/** What `read` gives; undefined for what it refuses with a problem 400 and pointers. What else is thrown is a bug. */
export function orRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.status).toBe(400);
    // The empty one stands for all of it (RFC 6901).
    for (const { pointer } of error.errors) expect(pointer).toMatch(/^(?:\/|$)/);
    return undefined;
  }
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
