import type { Clock } from '../../lib/clock.ts';
import { sourceGroup } from '../../lib/network.ts';
import { NewestMap } from '../../lib/newest-map.ts';

/** The first failure of a source waits so long, in ms; each further one twice as long as the one before. */
const FIRST_MS = 250;
/** No failure waits longer, in ms: clients give up after 30 s and more. */
const LONGEST_MS = 10_000;
/** After so long without a failure, in ms, a source begins anew. */
const FORGET_MS = 10 * 60_000;
/** Sources remembered, at about 200 bytes each; the one that failed longest ago makes room. */
export const MAX_FAILING_SOURCES = 10_000;
/** Answers of one source that wait at once. Those who fail go away while they wait: connections do not bound them. */
export const MAX_WAITING_OF_SOURCE = 100;
/** Answers that wait at once in all. */
export const MAX_WAITING = 2_000;

interface Failing {
  failures: number;
  lastAt: number;
  waiting: number;
}

/**
 * Makes those who guess keys wait, by source, IPv6 by /64. Only wrong answers wait, never questions: a good key is
 * answered at once however much others fail behind the same NAT, so that nobody is locked out by his neighbours. The
 * wait spares the store and the log, no more; that keys cannot be guessed is due to their 256 bits.
 *
 * A session asks one question at a time, so that whoever wants more answers needs more connections, which
 * `listener.max_connections_per_source` bounds. When too many answers wait, because clients leave and come again, the
 * next one is not put off but cut off: it costs nothing to keep, and him a connection.
 */
export class AuthFailures {
  readonly #clock: Clock;
  /** By group; the one that failed longest ago first. */
  readonly #failing = new NewestMap<string, Failing>(MAX_FAILING_SOURCES);
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An authentication has failed: waits. False, at once: too many are waiting, the connection should end. */
  async wait(address: string): Promise<boolean> {
    const source = this.#failed(sourceGroup(address));
    if (source.waiting >= MAX_WAITING_OF_SOURCE || this.#waiting >= MAX_WAITING) return false;
    source.waiting += 1;
    this.#waiting += 1;
    await this.#clock.sleep(Math.min(LONGEST_MS, FIRST_MS * 2 ** (source.failures - 1)));
    source.waiting -= 1;
    this.#waiting -= 1;
    return true;
  }

  #failed(group: string): Failing {
    const now = this.#clock.mono();
    const known = this.#failing.get(group);
    const source = known ?? { failures: 0, lastAt: now, waiting: 0 };
    if (now - source.lastAt >= FORGET_MS) source.failures = 0;
    source.failures += 1;
    source.lastAt = now;
    this.#failing.set(group, source);
    return source;
  }
}
