import type { Exchange } from '../../http/exchange.ts';
import { type FieldFault, Problem } from '../../http/problem.ts';
import { idempotencyKeyFault } from '../message-rules.ts';

/** The request's `Idempotency-Key` (contract §2), and who else is using it just now. */

const NAME = 'Idempotency-Key';

/** The request's key, null without one, and what is wrong with it, to be told with the faults of the body. */
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

/** What a batch is known by while it is being accepted: not what a single submission under the same key is. */
export function keyOfBatch(key: string): string {
  return `${key}\u001f`;
}

/**
 * The key that one message of a batch is remembered under. No client can write it, so it never meets the key of
 * another submission.
 */
export function keyInBatch(key: string, index: number): string {
  return `${keyOfBatch(key)}${index}`;
}

/**
 * The keys whose first submission is being accepted in this process. What the store remembers decides; this only
 * tells a hasty second one to come back, instead of letting it race. So when too many are under way to be told
 * apart, the next one simply goes on.
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
