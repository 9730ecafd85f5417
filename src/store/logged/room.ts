import type { AcceptWish, QueueLimits } from '../accepting.ts';
import type { QueueUse } from '../applying.ts';

/** Keys whose use is known; for any other key the database is asked at each message. */
const MAX_KEYS = 10_000;

/** What messages use of the queue's limits. */
class Sums {
  bytes = 0;
  readonly messages = new Map<string, number>();

  add({ keyId, sizeBytes }: Pick<AcceptWish, 'keyId' | 'sizeBytes'>): void {
    this.bytes += sizeBytes;
    if (keyId !== null) this.messages.set(keyId, (this.messages.get(keyId) ?? 0) + 1);
  }
}

/**
 * Room in the queue that is certain. The database counts; this holds an upper bound of its count since it last
 * answered, ignoring messages that ended meanwhile. What does not certainly fit is left to the database.
 */
export class SureRoom {
  /** Null: anything may have been added. */
  #bytes: number | null = null;
  readonly #messages = new Map<string, number>();
  /** Admitted, and not known to the database yet. */
  readonly #entering = new Set<readonly AcceptWish[]>();
  /** What the awaited answer does not count yet. */
  #since = new Sums();
  #asked = 0;
  /** Keys to ask for: their use is unknown, or something was added. */
  readonly #movedKeys = new Set<string>();
  /** Calls that the database is deciding because they do not certainly fit. */
  #deciding = 0;

  /** Takes room for messages that enter the log; false if they do not certainly fit. */
  take(wishes: readonly AcceptWish[], limits: QueueLimits | undefined): boolean {
    if (!this.isSure(wishes, limits)) return false;
    this.enter(wishes);
    return true;
  }

  /** Counts messages that may be accepted, whoever decides, until {@link entered}. */
  enter(wishes: readonly AcceptWish[]): void {
    this.#entering.add(wishes);
    for (const wish of wishes) this.#add(wish);
  }

  /** Whether they certainly fit. Without limits they do. */
  isSure(wishes: readonly AcceptWish[], limits: QueueLimits | undefined): boolean {
    return limits === undefined || this.#surelyFit(wishes, limits);
  }

  /** They are in the log or in the database, or were refused. */
  entered(wishes: readonly AcceptWish[]): void {
    this.#entering.delete(wishes);
  }

  /** From here on, uncounted messages may enter the queue. */
  distrust(): void {
    this.#asked++;
    this.#bytes = null;
    this.#messages.clear();
  }

  /** Lets the database alone decide until the work is done: nobody else is admitted. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#deciding++;
    try {
      return await work();
    } finally {
      this.#deciding--;
    }
  }

  /** The keys whose use the next answer should tell. */
  keysToAsk(): string[] {
    const keys = [...this.#movedKeys];
    this.#movedKeys.clear();
    return keys;
  }

  /** The database is asked, after everything in the log; pass its answer to the returned function. */
  asking(): (use: QueueUse) => void {
    const turn = ++this.#asked;
    const since = new Sums();
    for (const wishes of this.#entering) for (const wish of wishes) since.add(wish);
    this.#since = since;
    return ({ bytes, messages }) => {
      // Of answers in quick succession the last counts, since it includes the others.
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
