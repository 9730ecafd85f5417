import { type SessionReply, sessionReply } from '../../smtp/receiver/session-reply.ts';

/** What a pace is measured over, in ms. */
const WINDOW_MS = 10_000;

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

/** What is said to a client that falls short of it. */
export function tooSlow(minBytesPerSecond: number): SessionReply {
  return sessionReply(
    421,
    '4.4.2',
    `The message comes in too slowly; at least ${minBytesPerSecond} bytes a second are expected (listener.min_data_bytes_per_second)`,
  );
}
