import { NewestMap } from '../lib/newest-map.ts';
import type { AcceptWish, Foresight, QueueLimits } from '../store/accepting.ts';

/** How many keys' budgets are remembered; for any other key the store is asked. */
const MAX_KEYS = 1_000;

/**
 * What the store last said there is room for, less what was let in since: while it lasts, nobody needs to ask. What
 * ends meanwhile is not seen, so it errs to the safe side; other nodes' mail is not seen either, so the store still
 * decides.
 */
export class Budget {
  #limits: QueueLimits | null = null;
  #bytes = 0;
  /** Messages by key; the longest known first. */
  readonly #messages = new NewestMap<string, number>(MAX_KEYS);

  /** Spends what these need; false, and nothing is spent, when it does not suffice or the limits were changed. */
  spend(wishes: readonly AcceptWish[], limits: QueueLimits): boolean {
    if (!this.#isUnder(limits)) return false;
    const needed = new Map<string, number>();
    let bytes = 0;
    for (const { keyId, sizeBytes } of wishes) {
      bytes += sizeBytes;
      if (keyId !== null) needed.set(keyId, (needed.get(keyId) ?? 0) + 1);
    }
    if (bytes > this.#bytes) return false;
    for (const [keyId, messages] of needed) if (messages > (this.#messages.get(keyId) ?? 0)) return false;
    this.#bytes -= bytes;
    for (const [keyId, messages] of needed)
      this.#messages.set(keyId, (this.#messages.get(keyId) ?? 0) - messages);
    return true;
  }

  /** Takes note of what the store foresees under these limits, after everything it was asked for. */
  learn(wishes: readonly AcceptWish[], foresights: readonly Foresight[], limits: QueueLimits): void {
    if (!this.#isUnder(limits)) this.#messages.clear();
    this.#limits = limits;
    for (const [place, { bytesLeft, messagesLeft }] of foresights.entries()) {
      this.#bytes = bytesLeft;
      const keyId = wishes[place]?.keyId ?? null;
      if (keyId !== null) this.#messages.set(keyId, messagesLeft);
    }
  }

  /** The store refused what this had room for: it is asked before anything more is let in. */
  distrust(): void {
    this.#limits = null;
  }

  #isUnder({ maxBytes, maxMessagesPerKey }: QueueLimits): boolean {
    return this.#limits?.maxBytes === maxBytes && this.#limits.maxMessagesPerKey === maxMessagesPerKey;
  }
}
