import type { Clock } from '../../lib/clock.ts';
import type { DnsAnswer, RecordData, RecordType } from '../resolver.ts';

/** What failed is asked for again after so long (RFC 9520 §3.2 asks for at least one second). */
const FAILURE_SECONDS = 5;
/** What an answer takes on average; large ones count for several. */
const BYTES_PER_ENTRY = 512;
/** What a record takes beside its text, and an answer beside its records. */
const RECORD_BYTES = 48;
const ANSWER_BYTES = 256;

interface Entry {
  readonly answer: DnsAnswer<RecordType>;
  readonly expiresAt: number;
  readonly bytes: number;
}

/**
 * Answers, until their time is over. Bounded in number and, by {@link BYTES_PER_ENTRY} for each, in what they take in
 * memory, which may be many times what came over the wire; the ones longest unused go first. A time to live is kept from one second to a day, of what is not there to an hour
 * (`readAnswer`); a failure for five seconds.
 */
export class AnswerCache {
  readonly #clock: Clock;
  /** The one used last is last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many answers are kept. */
  get size(): number {
    return this.#entries.size;
  }

  /** The answer kept for `key`, with the time that is left of it. */
  get(key: string): DnsAnswer<RecordType> | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    this.#remove(key, entry);
    const leftMs = entry.expiresAt - this.#clock.mono();
    if (leftMs <= 0) return null;
    this.#add(key, entry);
    const { answer } = entry;
    return answer.kind === 'failed' ? answer : { ...answer, ttlSeconds: Math.ceil(leftMs / 1000) };
  }

  /** Keeps an answer, among at most `maxEntries`. */
  put(key: string, answer: DnsAnswer<RecordType>, maxEntries: number): void {
    const old = this.#entries.get(key);
    if (old) this.#remove(key, old);
    const seconds = answer.kind === 'failed' ? FAILURE_SECONDS : answer.ttlSeconds;
    const bytes = key.length + bytesOf(answer);
    this.#add(key, { answer, bytes, expiresAt: this.#clock.mono() + seconds * 1000 });
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= maxEntries && this.#bytes <= maxEntries * BYTES_PER_ENTRY) break;
      this.#remove(oldest, entry);
    }
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

/** What an answer takes, about: a character of its text is a byte. */
function bytesOf(answer: DnsAnswer<RecordType>): number {
  if (answer.kind === 'failed') return ANSWER_BYTES + answer.text.length;
  if (answer.kind !== 'found') return ANSWER_BYTES;
  const records: readonly RecordData[RecordType][] = answer.records;
  const sum = records.reduce((bytes, record) => bytes + RECORD_BYTES + textOf(record).length, 0);
  return ANSWER_BYTES + answer.canonicalName.length + sum;
}

/** All that a record has of text. */
function textOf(record: RecordData[RecordType]): string {
  if (typeof record === 'string') return record;
  return 'exchange' in record ? record.exchange : record.data;
}
