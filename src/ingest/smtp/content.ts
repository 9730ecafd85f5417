import { isLarge } from '../../domain/message.ts';
import { Gatherer } from '../../http/body.ts';
import { type Budget, giveBack, type Release, type Share } from '../../lib/budget.ts';
import { type Clock, SLICE_BYTES } from '../../lib/clock.ts';
import { decline, type Refusal } from './refusal.ts';

/** Memory for a message of unknown size at first; most are smaller. */
const FIRST_BYTES = 16 * 1024;
/** A message grows bit by bit up to this part of its sender's share; then it gets room for the largest message. */
const SMALL_PART = 400;
/**
 * How long a message may wait to begin: less than the two minutes that clients wait for the 354 (RFC 5321 §4.5.3.2.5).
 */
const BEGIN_WAIT_MS = 60_000;
/** How long it may wait for more memory: less than the three minutes allowed for a piece (RFC 5321 §4.5.3.2.5). */
const MORE_WAIT_MS = 150_000;

/**
 * The content of the incoming message, and its share of the memory for messages. A message with a declared size gets
 * that much at once, or waits for it before it begins; any other gets memory as it arrives. Large messages of unknown
 * size could each get a part and wait for each other: so a message that is no longer small waits until there is room
 * for the largest one allowed, and then arrives in whole. Every wait ends, and returns its share on failure.
 */
export class IncomingContent {
  readonly #budget: Budget;
  readonly #clock: Clock;
  #chunks: Buffer[] = [];
  /** Gathers many small pieces into few blocks. Null until there is one. */
  #gatherer: Gatherer | null = null;
  #bytes = 0;
  #share: Share | null = null;
  #reserved = 0;
  #maxBytes = 0;
  /** Null before the first message. */
  #pace: HeldPace | null = null;
  #releases: Release[] = [];
  #waiting: AbortController | null = null;
  /** What had arrived when others last had their turn. */
  #turnAt = 0;

  constructor(budget: Budget, clock: Clock) {
    this.#budget = budget;
    this.#clock = clock;
  }

  /** Whether the message that is arriving is large, and a slice of it has come since this was last true. */
  isTurnOver(): boolean {
    if (!isLarge(this.#bytes) || this.#bytes - this.#turnAt < SLICE_BYTES) return false;
    this.#turnAt = this.#bytes;
    return true;
  }

  /**
   * Makes room for a message of at most `maxBytes`. True when there is, false when there will be none in time;
   * synchronous where there is room now.
   */
  begin(holder: string, declaredBytes: number | null, maxBytes: number): boolean | Promise<boolean> {
    this.drop();
    this.#pace = new HeldPace(this.#clock.mono());
    this.#share = this.#budget.share(holder);
    this.#maxBytes = Math.max(maxBytes, FIRST_BYTES);
    const bytes = Math.min(Math.max(declaredBytes ?? 0, FIRST_BYTES), this.#maxBytes);
    return this.#reserve(bytes, BEGIN_WAIT_MS);
  }

  /** Adds a piece. Returns what {@link begin} returns; the next piece may follow only when it is true. */
  add(piece: Buffer): boolean | Promise<boolean> {
    this.#gatherer ??= this.#gather();
    const { length } = piece;
    if (this.#gatherer.push(piece) === 'copied') giveBack(piece);
    this.#pace?.add(length);
    this.#bytes += length;
    if (this.#bytes <= this.#reserved) return true;
    const isSmall = this.#reserved < Math.max(FIRST_BYTES, (this.#share?.most ?? 0) / SMALL_PART);
    const more = isSmall ? this.#reserved : this.#maxBytes - this.#reserved;
    return this.#reserve(Math.max(more, length), MORE_WAIT_MS);
  }

  /**
   * Whether it arrives too slowly for the memory it holds, see {@link HeldPace}. Called once a second; `couldSend`: the
   * client is not waiting for us.
   */
  isBehind(couldSend: boolean, now: number): boolean {
    return this.#pace?.isBehind(this.#reserved, couldSend, now) ?? false;
  }

  /**
   * Hands over the content with its share, which `release` returns: content being stored stays in memory until then,
   * even if the session has ended.
   */
  take(): { readonly chunks: readonly Buffer[]; readonly release: Release } {
    this.#gatherer?.flush();
    const chunks = this.#chunks;
    const releases = this.#releases;
    this.#releases = [];
    this.drop();
    return { chunks, release: () => releaseAll(releases) };
  }

  /** Drops the content and returns its share. */
  drop(): void {
    this.#waiting?.abort();
    this.#waiting = null;
    this.#chunks = [];
    this.#gatherer = null;
    this.#bytes = 0;
    this.#turnAt = 0;
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

/** The span over which a pace is measured, in ms. */
const WINDOW_MS = 10_000;
/** A message must fill the memory it holds within this many seconds. */
const FILL_SECONDS = 600;
/** Bytes a second that are always fast enough: a line of 100 kbit/s can spare that much for any message. */
const MAX_HELD_PACE = 10_000;
/** How far behind a message may be, in seconds; the bytes gathered before they are counted come on top. */
const SLACK_SECONDS = 60;
const SLACK_BYTES = 4096;

/** Measures the pace of a connection, second by second: nobody may draw out a message by a byte now and then. */
export class ContentPace {
  #since: number;
  #bytes = 0;

  constructor(now: number) {
    this.#since = now;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Whether less arrived than required, over the last ten seconds or more. A required pace of 0 begins anew. */
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
 * The pace of a message that holds memory others wait for: the more it holds, the faster it must arrive. Being ahead
 * earns no time to stand still later, so it ends in bounded time; a line may be quiet for a minute.
 */
export class HeldPace {
  #since: number;
  #owedBytes = 0;

  /** `now`: monotonic ms. */
  constructor(now: number) {
    this.#since = now;
  }

  add(bytes: number): void {
    this.#owedBytes -= bytes;
  }

  /** Whether it has fallen behind. While it waits for us and cannot send, nothing is required. */
  isBehind(heldBytes: number, couldSend: boolean, now: number): boolean {
    const elapsedSeconds = (now - this.#since) / 1000;
    this.#since = now;
    const pace = Math.min(MAX_HELD_PACE, heldBytes / FILL_SECONDS);
    this.#owedBytes = Math.max(0, this.#owedBytes + (couldSend ? pace * elapsedSeconds : 0));
    return heldBytes > 0 && this.#owedBytes > pace * SLACK_SECONDS + SLACK_BYTES;
  }
}

/** The reply to a client that falls behind. */
export const HELD_TOO_LONG = decline(
  'too_slow',
  421,
  '4.4.2',
  `The message arrives too slowly for the memory it holds; send ${MAX_HELD_PACE} bytes a second, or give its SIZE at MAIL`,
);

/** The reply to a client slower than {@link ContentPace} requires. */
export function tooSlow(minBytesPerSecond: number): Refusal {
  return decline(
    'too_slow',
    421,
    '4.4.2',
    `The message arrives too slowly; at least ${minBytesPerSecond} bytes a second are expected (listener.min_data_bytes_per_second)`,
  );
}
