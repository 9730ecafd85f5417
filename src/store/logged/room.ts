import type { AcceptWish, QueueLimits } from '../accepting.ts';
import type { QueueUse } from '../applying.ts';

/** Keys of which the use is known; of more, the database is asked for each message. */
const MAX_KEYS = 10_000;

/** What messages take of the queue's limits. */
class Sums {
  bytes = 0;
  readonly messages = new Map<string, number>();

  add({ keyId, sizeBytes }: Pick<AcceptWish, 'keyId' | 'sizeBytes'>): void {
    this.bytes += sizeBytes;
    if (keyId !== null) this.messages.set(keyId, (this.messages.get(keyId) ?? 0) + 1);
  }
}

/**
 * What is surely room in the queue. The database counts; here stands at most how much it can have come to since it was
 * last heard: what ended meanwhile is not taken off. What does not surely fit is for the database to decide.
 */
export class SureRoom {
  /** Null: anything may have been added. */
  #bytes: number | null = null;
  readonly #messages = new Map<string, number>();
  /** Let in, and not known to the database yet. */
  readonly #entering = new Set<readonly AcceptWish[]>();
  /** What the answer that is awaited does not count yet. */
  #since = new Sums();
  #asked = 0;
  /** Keys of which more is to be known: nothing is, or something was added. */
  readonly #movedKeys = new Set<string>();
  /** Those whom the database is deciding on because they do not surely fit. */
  #deciding = 0;

  /** Takes room for messages that are entering the log; false where they do not surely fit. */
  take(wishes: readonly AcceptWish[], limits: QueueLimits | undefined): boolean {
    if (!this.isSure(wishes, limits)) return false;
    this.enter(wishes);
    return true;
  }

  /** Counts messages that may come in, whoever decides on them, until {@link entered}. */
  enter(wishes: readonly AcceptWish[]): void {
    this.#entering.add(wishes);
    for (const wish of wishes) this.#add(wish);
  }

  /** Whether there is surely room for them. Without limits there is. */
  isSure(wishes: readonly AcceptWish[], limits: QueueLimits | undefined): boolean {
    return limits === undefined || this.#surelyFit(wishes, limits);
  }

  /** They are in the log or in the database, or have been refused. */
  entered(wishes: readonly AcceptWish[]): void {
    this.#entering.delete(wishes);
  }

  /** Something that nobody has counted may come into the queue from here on. */
  distrust(): void {
    this.#asked++;
    this.#bytes = null;
    this.#messages.clear();
  }

  /** Lets the database alone decide until the work is done: nobody else comes in. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#deciding++;
    try {
      return await work();
    } finally {
      this.#deciding--;
    }
  }

  /** The keys whose use the next answer is to tell. */
  keysToAsk(): string[] {
    const keys = [...this.#movedKeys];
    this.#movedKeys.clear();
    return keys;
  }

  /** The database is asked, behind everything in the log. What it answers is to be given to the result. */
  asking(): (use: QueueUse) => void {
    const turn = ++this.#asked;
    const since = new Sums();
    for (const wishes of this.#entering) for (const wish of wishes) since.add(wish);
    this.#since = since;
    return ({ bytes, messages }) => {
      // Of answers that come close together the last counts, which knows of the others.
      if (turn !== this.#asked) return;
      this.#bytes = bytes + since.bytes;
      if (this.#messages.size > MAX_KEYS) this.#messages.clear();
      for (const [keyId, count] of messages)
        this.#messages.set(keyId, count + (since.messages.get(keyId) ?? 0));
    };
  }

  #add(wish: AcceptWish): void {
    const { keyId, sizeBytes } = wish;
    this.#since.add(wish);
    if (this.#bytes !== null) this.#bytes += sizeBytes;
    if (keyId === null) return;
    this.#movedKeys.add(keyId);
    const known = this.#messages.get(keyId);
    if (known !== undefined) this.#messages.set(keyId, known + 1);
  }

  #surelyFit(wishes: readonly AcceptWish[], { maxBytes, maxMessagesPerKey }: QueueLimits): boolean {
    if (this.#deciding > 0 || this.#bytes === null) return false;
    const sums = new Sums();
    for (const wish of wishes) sums.add(wish);
    if (this.#bytes + sums.bytes > maxBytes) return false;
    for (const [keyId, messages] of sums.messages) {
      const known = this.#messages.get(keyId);
      if (known === undefined) this.#movedKeys.add(keyId);
      if (known === undefined || known + messages > maxMessagesPerKey) return false;
    }
    return true;
  }
}
