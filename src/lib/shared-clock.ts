import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { StopSignal } from './stop.ts';

/** How often the other clock is read, in ms: machines' clocks drift less than this apart in a day. */
const MEASURE_MS = 10_000;
/** Answers per measurement; the quickest counts. */
const SAMPLES = 3;
/** More at the start, while connections are still being made. */
const FIRST_SAMPLES = 5;
/** A larger error than this, in ms, is corrected at once: due dates and leases must not be wrong for long. */
const JUMP_MS = 1_000;
/** A smaller one is corrected gradually: wall time runs slower or faster by at most this part, and never goes back. */
const SLEW = 0.05;

/** One answer of the common clock. */
interface Sample {
  /** The difference to our monotonic time, in ms. */
  readonly offset: number;
  /** How wrong that may be, in ms, either way: half of the round trip. */
  readonly error: number;
}

/**
 * The machine's clock, until it {@link SharedClock.follow}s another one: then its wall time is monotonic time plus a
 * measured offset, so that all followers of one clock agree, whatever their machines say.
 */
export class SharedClock implements Clock {
  readonly #machine: Clock;
  #ask: (() => Promise<number>) | null = null;
  /** In force at {@link #since}, both in ms. */
  #offset = 0;
  #since = 0;
  /** What the offset moves to. */
  #target = 0;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  wall(): number {
    return this.#ask === null
      ? this.#machine.wall()
      : Math.floor(this.#machine.mono() + this.#offsetAt(this.#machine.mono()));
  }

  mono(): number {
    return this.#machine.mono();
  }

  sleep(ms: number, signal?: StopSignal): Promise<void> {
    return this.#machine.sleep(ms, signal);
  }

  /**
   * Follows another clock from now on: `ask` returns its wall time in ms. Rejects, and changes nothing, if `ask`
   * rejects.
   */
  async follow(ask: () => Promise<number>): Promise<void> {
    const { offset } = await this.#sample(ask, FIRST_SAMPLES);
    this.#set(offset, offset);
    this.#ask = ask;
  }

  /**
   * Measures again, and corrects the error. Returns by how many ms wall time jumped: 0 if the error was small, or may
   * be one of measuring. Rejects like the other clock.
   */
  async measure(): Promise<number> {
    if (this.#ask === null) return 0;
    const { offset, error } = await this.#sample(this.#ask, SAMPLES);
    const now = this.#offsetAt(this.#machine.mono());
    const wrong = offset - now;
    // The true offset differs from the measured one by at most the error: an offset within may be right as it is.
    if (Math.abs(wrong) <= error) return 0;
    const isJump = Math.abs(wrong) > JUMP_MS;
    this.#set(isJump ? offset : now, offset);
    return isJump ? Math.round(wrong) : 0;
  }

  /**
   * Measures every few seconds until `signal` aborts. While the other clock does not answer, time continues on its own.
   */
  async keep(log: Log, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.sleep(MEASURE_MS, signal);
      if (signal.aborted) return;
      try {
        const jumpedMs = await this.measure();
        if (jumpedMs !== 0) log.warn('clock.jumped', { jumpedMs });
      } catch (error) {
        log.debug('clock.not_measured', { message: String(error) });
      }
    }
  }

  #set(offset: number, target: number): void {
    this.#since = this.#machine.mono();
    this.#offset = offset;
    this.#target = target;
  }

  #offsetAt(mono: number): number {
    const moved = (mono - this.#since) * SLEW;
    const wrong = this.#target - this.#offset;
    return Math.abs(wrong) <= moved ? this.#target : this.#offset + Math.sign(wrong) * moved;
  }

  /** The quickest of several answers: the middle of its round trip is nearest to the truth. */
  async #sample(ask: () => Promise<number>, count: number): Promise<Sample> {
    let best: Sample | null = null;
    for (let asked = 0; best === null || asked < count; asked++) {
      const before = this.#machine.mono();
      const theirs = await ask();
      const error = (this.#machine.mono() - before) / 2;
      if (best === null || error < best.error) best = { offset: theirs - (before + error), error };
    }
    return best;
  }
}
