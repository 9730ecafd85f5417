import type { Clock } from '../lib/clock.ts';

/** A body that is being read. */
export interface PacedBody {
  /** Bytes that came since the last look; whoever reads adds them. */
  bytes: number;
  /** Monotonic ms of the last look. */
  since: number;
  readonly onSlow: (minBytesPerSecond: number) => void;
}

const WINDOW_MS = 10_000;
const LOOK_MS = 1000;

/**
 * Watches that bodies come in at a least pace, measured over ten seconds (`api.min_body_bytes_per_second`): a
 * client that sends a byte now and then would hold its connection and its share of memory for the whole time
 * that a body may take. One timer serves all; it runs only while a body is being read.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #minBytesPerSecond: () => number;
  readonly #bodies = new Set<PacedBody>();
  readonly #stopping = new AbortController();
  #running = false;

  /** The least pace is asked for at every look, so that it may change; 0 means any. */
  constructor(clock: Clock, minBytesPerSecond: () => number) {
    this.#clock = clock;
    this.#minBytesPerSecond = minBytesPerSecond;
  }

  /** Begins to watch a body; `onSlow` is called once at most, with the pace that it fell short of. */
  watch(onSlow: (minBytesPerSecond: number) => void): PacedBody {
    const body: PacedBody = { bytes: 0, since: this.#clock.mono(), onSlow };
    this.#bodies.add(body);
    if (!this.#running) void this.#run();
    return body;
  }

  /** The body has ended, one way or another. */
  forget(body: PacedBody): void {
    this.#bodies.delete(body);
  }

  /** Stops looking. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    this.#running = true;
    const { signal } = this.#stopping;
    while (this.#bodies.size > 0 && !signal.aborted) {
      await this.#clock.sleep(LOOK_MS, signal);
      const now = this.#clock.mono();
      for (const body of this.#bodies) this.#look(body, now);
    }
    this.#running = false;
  }

  #look(body: PacedBody, now: number): void {
    const elapsedMs = now - body.since;
    if (elapsedMs < WINDOW_MS) return;
    const minimum = this.#minBytesPerSecond();
    if (body.bytes * 1000 < minimum * elapsedMs) {
      this.#bodies.delete(body);
      body.onSlow(minimum);
      return;
    }
    body.bytes = 0;
    body.since = now;
  }
}
