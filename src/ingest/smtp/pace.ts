import { decline, type Refusal } from './refusal.ts';

/** What a pace is measured over, in ms. */
const WINDOW_MS = 10_000;
/** What a message holds of the memory must come in within so many seconds. */
const FILL_SECONDS = 600;
/** Bytes a second beyond which nobody is asked to hurry: a line of 100 kbit/s has that much to spare for any message. */
const MAX_HELD_PACE = 10_000;
/** How far behind a message may be: by a minute, and by the bytes that are gathered before they are counted. */
const SLACK_SECONDS = 60;
const SLACK_BYTES = 4096;

/** What comes in over a connection, second by second: a message must not be drawn out for ever, a byte now and then. */
export class ContentPace {
  #since: number;
  #bytes = 0;

  /** `now`: monotonic ms. */
  constructor(now: number) {
    this.#since = now;
  }

  /** Bytes have come in. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Whether less came in than it should, over the last ten seconds or more. A least pace of 0 begins anew. */
  isBelow(minBytesPerSecond: number, now: number): boolean {
    const elapsedMs = now - this.#since;
    if (minBytesPerSecond > 0 && elapsedMs < WINDOW_MS) return false;
    const isBelow = this.#bytes * 1000 < minBytesPerSecond * elapsedMs;
    this.#since = now;
    this.#bytes = 0;
    return isBelow;
  }
}

/**
 * What comes in of a message that holds memory, which others wait for: the more it holds, the faster it must come.
 * Going ahead gives no time to stand still later, so that it ends in bounded time; a line may be quiet for a minute.
 */
export class HeldPace {
  #since: number;
  #owedBytes = 0;

  /** `now`: monotonic ms. */
  constructor(now: number) {
    this.#since = now;
  }

  /** Bytes of it have come in. */
  add(bytes: number): void {
    this.#owedBytes -= bytes;
  }

  /** Whether it has fallen behind. Where it could not send, because it waited for us, it owes nothing. */
  isBehind(heldBytes: number, couldSend: boolean, now: number): boolean {
    const elapsedSeconds = (now - this.#since) / 1000;
    this.#since = now;
    const pace = Math.min(MAX_HELD_PACE, heldBytes / FILL_SECONDS);
    this.#owedBytes = Math.max(0, this.#owedBytes + (couldSend ? pace * elapsedSeconds : 0));
    return heldBytes > 0 && this.#owedBytes > pace * SLACK_SECONDS + SLACK_BYTES;
  }
}

/** What is said to a client that falls behind it. */
export const HELD_TOO_LONG = decline(
  'too_slow',
  421,
  '4.4.2',
  `The message comes in too slowly for the memory it holds; send ${MAX_HELD_PACE} bytes a second, or say its SIZE at MAIL`,
);

/** What is said to a client that falls short of {@link ContentPace}. */
export function tooSlow(minBytesPerSecond: number): Refusal {
  return decline(
    'too_slow',
    421,
    '4.4.2',
    `The message comes in too slowly; at least ${minBytesPerSecond} bytes a second are expected (listener.min_data_bytes_per_second)`,
  );
}
