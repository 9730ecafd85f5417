import { Gatherer } from '../../http/body.ts';
import type { Budget, Release, Share } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import { decline, type Refusal } from './refusal.ts';

/** Memory that a message gets before its size is known; most are smaller. */
const FIRST_BYTES = 16 * 1024;
/** The part of what its sender may have that a message gets bit by bit; beyond it, it gets room for all there may come. */
const SMALL_PART = 400;
/** How long a message may wait to begin: shorter than the two minutes in which clients expect the 354 (RFC 5321 §4.5.3.2.5). */
const BEGIN_WAIT_MS = 60_000;
/** How long it may wait for more: shorter than the three minutes that clients give a piece to go (RFC 5321 §4.5.3.2.5). */
const MORE_WAIT_MS = 150_000;

/**
 * The content of the message that is coming in, and its share of the memory for messages. Who says how much will come
 * gets it at once or waits for it before it begins; who does not gets more as it comes. Large messages of unknown size
 * would all get a part and wait for each other's: so whatever is not small waits until there is room for the largest
 * message there may be, and then comes in whole. Every wait ends, and who gave up gives its share back.
 */
export class IncomingContent {
  readonly #budget: Budget;
  readonly #clock: Clock;
  #chunks: Buffer[] = [];
  /** Many small pieces become few blocks. Null until there is one. */
  #gatherer: Gatherer | null = null;
  #bytes = 0;
  #share: Share | null = null;
  #reserved = 0;
  #maxBytes = 0;
  /** Null before the first message. */
  #pace: HeldPace | null = null;
  #releases: Release[] = [];
  #waiting: AbortController | null = null;

  constructor(budget: Budget, clock: Clock) {
    this.#budget = budget;
    this.#clock = clock;
  }

  /**
   * Makes room for a message of at most `maxBytes`. True when there is, false when there will be none in time; waiting
   * takes no turn of the loop where there is room now.
   */
  begin(holder: string, declaredBytes: number | null, maxBytes: number): boolean | Promise<boolean> {
    this.drop();
    this.#pace = new HeldPace(this.#clock.mono());
    this.#share = this.#budget.share(holder);
    this.#maxBytes = Math.max(maxBytes, FIRST_BYTES);
    const bytes = Math.min(Math.max(declaredBytes ?? 0, FIRST_BYTES), this.#maxBytes);
    return this.#reserve(bytes, BEGIN_WAIT_MS);
  }

  /** Adds a piece. What it gives is what {@link begin} gives; until it is true, nothing more may come in. */
  add(piece: Buffer): boolean | Promise<boolean> {
    this.#gatherer ??= this.#gather();
    this.#gatherer.push(piece);
    this.#pace?.add(piece.length);
    this.#bytes += piece.length;
    if (this.#bytes <= this.#reserved) return true;
    const isSmall = this.#reserved < Math.max(FIRST_BYTES, (this.#share?.most ?? 0) / SMALL_PART);
    const more = isSmall ? this.#reserved : this.#maxBytes - this.#reserved;
    return this.#reserve(Math.max(more, piece.length), MORE_WAIT_MS);
  }

  /**
   * Whether it comes in too slowly for the memory that it holds, see {@link HeldPace}. Asked about once a second;
   * `couldSend`: the client is not waiting for us.
   */
  isBehind(couldSend: boolean, now: number): boolean {
    return this.#pace?.isBehind(this.#reserved, couldSend, now) ?? false;
  }

  /**
   * Hands over what came in, with its share, which is given back by `release`: what is being stored stays in memory so
   * long, even when the session has ended meanwhile.
   */
  take(): { readonly chunks: readonly Buffer[]; readonly release: Release } {
    this.#gatherer?.flush();
    const chunks = this.#chunks;
    const releases = this.#releases;
    this.#releases = [];
    this.drop();
    return { chunks, release: () => releaseAll(releases) };
  }

  /** Forgets it, and gives back its share. */
  drop(): void {
    this.#waiting?.abort();
    this.#waiting = null;
    this.#chunks = [];
    this.#gatherer = null;
    this.#bytes = 0;
    this.#reserved = 0;
    const releases = this.#releases;
    this.#releases = [];
    releaseAll(releases);
  }

  #gather(): Gatherer {
    const chunks = this.#chunks;
    return new Gatherer((chunk) => void chunks.push(chunk));
  }

  #reserve(bytes: number, waitMs: number): boolean | Promise<boolean> {
    const release = this.#share?.tryAcquire(bytes) ?? null;
    if (release === null) return this.#await(bytes, waitMs);
    this.#hold(bytes, release);
    return true;
  }

  async #await(bytes: number, waitMs: number): Promise<boolean> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    const { signal } = waiting;
    void this.#clock.sleep(waitMs, signal).then(() => waiting.abort());
    const release = (await this.#share?.acquire(bytes, signal)) ?? null;
    const dropped = this.#waiting !== waiting;
    waiting.abort();
    if (dropped) {
      release?.();
      return false;
    }
    this.#waiting = null;
    if (release !== null) this.#hold(bytes, release);
    return release !== null;
  }

  #hold(bytes: number, release: Release): void {
    this.#reserved += bytes;
    this.#releases.push(release);
  }
}

function releaseAll(releases: readonly Release[]): void {
  for (const release of releases) release();
}

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
