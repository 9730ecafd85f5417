import { createHash } from 'node:crypto';
import { SLICE_BYTES, type Sliced } from '../../lib/clock.ts';

/** What a submission's repeats are compared by (contract §2: `Idempotency-Key`). */

/** Texts longer than this are compared by their digest. */
const INLINE_CHARACTERS = 64 * 1024;

/** The SHA-256 of bytes, in hex. */
export function* digestOf(bytes: Uint8Array): Sliced<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    hash.update(bytes.subarray(from, from + SLICE_BYTES));
  }
  return hash.digest('hex');
}

/** The SHA-256 of a value as JSON, in hex. `form` keeps what is submitted in different ways apart. */
export function digestOfJson(form: 'fields' | 'raw' | 'resend', value: unknown): string {
  return createHash('sha256')
    .update(`${form}\0${JSON.stringify(value)}`)
    .digest('hex');
}

/** Text in the place it has in a value that is digested: as it is, or its digest in brackets. */
export function* digestible(text: string | null): Sliced<string | null | readonly [digest: string]> {
  if (text === null || text.length <= INLINE_CHARACTERS) return text;
  return [yield* digestOf(Buffer.from(text))];
}
