import { createHash, hash } from 'node:crypto';
import type { Exchange } from '../../http/exchange.ts';
import { type FieldFault, Problem } from '../../http/problem.ts';
import { SLICE_BYTES, type Sliced } from '../../lib/clock.ts';
import { idempotencyKeyFault } from '../message-rules.ts';

/** The request's `Idempotency-Key` (contract §2), and the other requests using it now. */

const NAME = 'Idempotency-Key';

/** The request's key, null without one, and its fault, to be reported with those of the body. */
export interface GivenKey {
  readonly key: string | null;
  readonly faults: readonly FieldFault[];
}

/** Reads the request's header. */
export function readIdempotencyKey(exchange: Exchange): GivenKey {
  const key = exchange.headers['idempotency-key']?.toString() ?? null;
  const fault = key === null ? null : idempotencyKeyFault(key);
  return fault === null
    ? { key, faults: [] }
    : { key: null, faults: [{ pointer: `/${NAME}`, code: fault.code, detail: fault.detail }] };
}

/** Names a batch while it is being accepted: a single submission under the same key is another request. */
export function keyOfBatch(key: string): string {
  return `${key}\u001f`;
}

/**
 * Names one message of a batch under the batch's key. No client can write such a key, so it never collides with that of
 * another submission.
 */
export function keyInBatch(key: string, index: number): string {
  return `${keyOfBatch(key)}${index}`;
}

/**
 * The keys whose first submission this process is accepting. The store's record decides; this only tells an early
 * repeat to come back instead of racing. So when too many are under way to track, the next one simply proceeds.
 */
export class InProgress {
  readonly #keys = new Set<string>();
  readonly #max: number;

  constructor(options: { readonly max: number }) {
    this.#max = options.max;
  }

  /** Runs `work` as the only one with this key of this API key. Throws the problem 409 when another one is. */
  async alone<T>(keyId: string, key: string | null, work: () => Promise<T>): Promise<T> {
    if (key === null) return work();
    const name = `${keyId} ${key}`;
    if (this.#keys.has(name)) throw inProgress();
    if (this.#keys.size >= this.#max) return work();
    this.#keys.add(name);
    try {
      return await work();
    } finally {
      this.#keys.delete(name);
    }
  }
}

function inProgress(): Problem {
  return new Problem(
    409,
    'idempotency_in_progress',
    'The first submission with this Idempotency-Key is still being accepted; ask again in a moment.',
    { headers: { 'Retry-After': '1' } },
  );
}

// The digests that repeats are compared by (contract §2: `Idempotency-Key`).

/** Longer texts are compared by their digest. */
const INLINE_CHARACTERS = 64 * 1024;

/** The SHA-256 of bytes, in hex. */
export function* digestOf(bytes: Uint8Array): Sliced<string> {
  if (bytes.length <= SLICE_BYTES) return hash('sha256', bytes, 'hex');
  const whole = createHash('sha256');
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    if (from > 0) yield;
    whole.update(bytes.subarray(from, from + SLICE_BYTES));
  }
  return whole.digest('hex');
}

/** The SHA-256 of a value as JSON, in hex. `form` separates the ways to submit. */
export function digestOfJson(form: 'fields' | 'raw' | 'resend' | 'batch', value: unknown): string {
  return createHash('sha256')
    .update(`${form}\0${JSON.stringify(value)}`)
    .digest('hex');
}

/** A text as part of a digested value: as it is, or as its digest in brackets. */
export function* digestible(text: string | null): Sliced<string | null | readonly [digest: string]> {
  if (text === null || text.length <= INLINE_CHARACTERS) return text;
  return [yield* digestOf(Buffer.from(text))];
}

/** Named values in the order of their names: as given, it means nothing. */
export function sortedByName(named: readonly (readonly [string, string])[]) {
  return named.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
}
