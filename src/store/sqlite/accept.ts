import type { Idempotency } from '../../domain/message.ts';
import {
  type AcceptAnswer,
  type AcceptRecord,
  type AcceptWish,
  type Foresight,
  IDEMPOTENCY_MS,
  NO_LIMITS,
  type QueueLimits,
  type Refusal,
  refusalOfAll,
  wishOfRecord,
} from '../accepting.ts';
import { stopsOf } from '../stops.ts';
import type { Stamp } from '../store.ts';
import type { Books } from './books.ts';
import type { Driver } from './driver.ts';
import { Inserter } from './insert.ts';

/** Builds the verb `accept`. */
export function acceptVerb(books: Books) {
  const inserter = new Inserter(books);
  const findIdempotency = prepareFindIdempotency(books.db);
  const foresee = foreseeVerb(books);
  return (
    batch: readonly AcceptRecord[],
    at: Stamp,
    limits?: QueueLimits,
    together = false,
  ): AcceptAnswer[] => {
    const given = limits ?? NO_LIMITS;
    const refusal =
      together && refusalOfAll(batch.map(wishOfRecord), (wishes) => foresee(wishes, at, given), given);
    if (refusal) return batch.map(() => refusal);
    return batch.map((record) => {
      const repeat = record.idempotency && findRepeat(findIdempotency, record.keyId, record.idempotency, at);
      if (repeat) return repeat;
      const full = limits && fullQueue(books, wishOfRecord(record), limits);
      if (full) return full;
      const { leased, stopped } = inserter.insert(record, at);
      if (stopped.size === 0) return { kind: 'accepted', leased };
      return { kind: 'accepted', leased, suppressed: stopsOf(stopped) };
    });
  };
}

/** Builds the verb `foresee`. */
export function foreseeVerb(books: Books) {
  const { tallies } = books;
  const findIdempotency = prepareFindIdempotency(books.db);
  return (wishes: readonly AcceptWish[], at: Stamp, limits: QueueLimits): Foresight[] => {
    const fitting: AcceptWish[] = [];
    const foresights = wishes.map((wish): Foresight => {
      const { keyId, sizeBytes, idempotency } = wish;
      const repeat = idempotency && findRepeat(findIdempotency, keyId, idempotency, at);
      const answer = repeat ?? fullQueue(books, wish, limits) ?? ({ kind: 'fits' } as const);
      if (answer.kind === 'fits') {
        tallies.queue(keyId, 1, sizeBytes);
        fitting.push(wish);
      }
      return {
        answer,
        bytesLeft: limits.maxBytes - tallies.gaugeNow('queued_bytes'),
        messagesLeft:
          keyId === null ? Number.MAX_SAFE_INTEGER : limits.maxMessagesPerKey - tallies.queuedNow(keyId),
      };
    });
    // Undoes the trial.
    for (const { keyId, sizeBytes } of fitting) tallies.queue(keyId, -1, sizeBytes);
    return foresights;
  };
}

type FindIdempotency = ReturnType<typeof prepareFindIdempotency>;

function findRepeat(
  findIdempotency: FindIdempotency,
  keyId: string | null,
  { key, hash }: Idempotency,
  at: Stamp,
): Exclude<AcceptAnswer, { readonly kind: 'accepted' }> | null {
  const first = findIdempotency.get(keyId ?? '', key, at.now - IDEMPOTENCY_MS);
  if (first === undefined) return null;
  return first[0] === hash ? { kind: 'replayed', id: first[1] } : { kind: 'idempotency_mismatch' };
}

/** The refusal of a message that finds no room; null if there is room. */
function fullQueue(
  { tallies }: Books,
  { keyId, sizeBytes }: Pick<AcceptWish, 'keyId' | 'sizeBytes'>,
  limits: QueueLimits,
): Refusal | null {
  const tooLarge = sizeBytes > limits.maxBytes;
  if (tooLarge || tallies.gaugeNow('queued_bytes') + sizeBytes > limits.maxBytes)
    return { kind: 'queue_full', whose: 'all', tooLarge };
  if (keyId !== null && tallies.queuedNow(keyId) >= limits.maxMessagesPerKey)
    return { kind: 'queue_full', whose: 'key', tooLarge: false };
  return null;
}

export function prepareFindIdempotency(db: Driver) {
  return db.prepare<[keyId: string, key: string, after: number], [hash: string, id: string]>(
    'SELECT hash, id FROM idempotency WHERE key_id = ? AND idem_key = ? AND created_at > ?',
  );
}
