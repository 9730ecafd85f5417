import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Cluster, RateUnits } from '../store/cluster.ts';
import type { Heard, RateLimiter } from './rate.ts';
import { RATE_WINDOWS, WINDOW_SECONDS } from './sliding-window.ts';

/**
 * How often nodes tell each other what they let through, in ms. What one lets through is told within this time and heard
 * within this time: with both ways to the database it is less than the second that contract §6 allows.
 */
const EXCHANGE_MS = 400;
/** Others' seconds are asked for again for so long, for what was written late. */
const OVERLAP_SECONDS = 2;
/** At most so many windows are told of at a time. */
const MAX_TOLD = 10_000;

/** What exchanging takes. */
export interface RateExchangeDeps {
  readonly limiter: RateLimiter;
  readonly cluster: Pick<Cluster, 'exchangeRates'>;
  /** This process's name; another at every start. */
  readonly node: string;
  /** Its wall time is that of all nodes. */
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Lets the windows of keys hold across nodes: tells others what was let through here and counts what they let through.
 * While the database does not answer, each node counts by itself, and tells later.
 */
export class RateExchange {
  readonly #deps: RateExchangeDeps;
  /** When others were heard last, in whole seconds since the epoch; null: not yet. */
  #heardAt: number | null = null;
  #isFailing = false;

  constructor(deps: RateExchangeDeps) {
    this.#deps = deps;
  }

  /** Exchanges until `signal` aborts, and then once more. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.turn();
      await this.#deps.clock.sleep(EXCHANGE_MS, signal);
    }
    await this.turn();
  }

  /** Tells and hears once. */
  async turn(): Promise<void> {
    const { limiter, cluster, node, clock, log } = this.#deps;
    const taken = limiter.untold(MAX_TOLD);
    const second = secondOf(clock);
    // Told as of now, late rather than early: nobody looks for it further back.
    const mine: RateUnits[] = taken.map((one) => ({ ...one, second }));
    const since = Math.max(second - WINDOW_SECONDS, (this.#heardAt ?? 0) - OVERLAP_SECONDS);
    try {
      const others = await cluster.exchangeRates(node, mine, since);
      limiter.hear(others.filter(isHeard), secondOf(clock), clock.mono());
      this.#heardAt = second;
      this.#isFailing = false;
    } catch (error) {
      limiter.notTold(taken);
      if (!this.#isFailing) log.warn('rates.not_exchanged', { message: String(error) });
      this.#isFailing = true;
    }
  }
}

/** Another version of the program may have windows that we do not know. */
function isHeard(units: RateUnits): units is RateUnits & Heard {
  return RATE_WINDOWS.some((window) => window === units.window);
}

function secondOf(clock: Clock): number {
  return Math.floor(clock.wall() / 1000);
}
