import type { Clock } from '../lib/clock.ts';

/**
 * Repeats a query in the background and remembers the last answer, so that a caller never waits. One query at a time:
 * one that is never answered is never repeated.
 */
export class Poll<T> {
  readonly #ask: () => Promise<T>;
  readonly #everyMs: number;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #latest: T | null = null;
  #tookMs = 0;
  #askedAt: number | null = null;
  #answered = false;

  constructor(ask: () => Promise<T>, everyMs: number, clock: Clock) {
    this.#ask = ask;
    this.#everyMs = everyMs;
    this.#clock = clock;
  }

  /** The last answer; null before the first. */
  get latest(): T | null {
    return this.#latest;
  }

  /** How long the last answer took, or the current query has been taking if that is longer. In ms. */
  get latencyMs(): number {
    return Math.max(this.#tookMs, this.#waitingMs());
  }

  /** Whether the last query was answered and none has been pending for longer than `limitMs`. */
  answersWithin(limitMs: number): boolean {
    return this.#answered && this.#waitingMs() < limitMs;
  }

  /** Begins. Resolves when the first query was answered, has failed, or has been pending for `patienceMs`. */
  async start(patienceMs: number): Promise<void> {
    const first = this.#once();
    void first.then(() => this.#goOn());
    const answered = new AbortController();
    void first.then(() => answered.abort());
    await this.#clock.sleep(patienceMs, answered.signal);
  }

  /** Ends without waiting for a pending query. */
  stop(): void {
    this.#stop.abort();
  }

  async #goOn(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(this.#everyMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      await this.#once();
    }
  }

  async #once(): Promise<void> {
    const start = this.#clock.mono();
    this.#askedAt = start;
    try {
      this.#latest = await this.#ask();
      this.#answered = true;
    } catch {
      this.#answered = false;
    }
    this.#tookMs = this.#clock.mono() - start;
    this.#askedAt = null;
  }

  #waitingMs(): number {
    return this.#askedAt === null ? 0 : this.#clock.mono() - this.#askedAt;
  }
}
