import fc from 'fast-check';
import { expect } from 'vitest';
import { tell, times } from '../support/proof.ts';

/** Inputs that every parser gets. */
export const INPUTS = times('fuzz_inputs', 10_000);

/**
 * Gives a parser {@link INPUTS} inputs. `holds` checks what must be so of one and tells whether it was taken; that
 * some are, and not all, shows that the inputs are neither noise nor harmless. Says how many there were.
 */
export function fuzz<T>(parser: string, inputs: fc.Arbitrary<T>, holds: (input: T) => boolean): void {
  let given = 0;
  let taken = 0;
  fc.assert(
    fc.property(inputs, (input) => {
      given += 1;
      if (holds(input)) taken += 1;
    }),
    { numRuns: INPUTS },
  );
  tell(`fuzz: ${parser}`, { inputs: given, taken });
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(given);
}

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
