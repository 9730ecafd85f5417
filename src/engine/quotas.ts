import { dayOf, endOfDay } from '../domain/quota.ts';
import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/clock.ts';
import type { Views } from '../store/views.ts';
import type { Relays } from './relays.ts';

/** How often it is asked what all nodes have used, in ms. */
const LOOK_MS = 10_000;

/** What minding quotas needs. */
export interface QuotasDeps {
  readonly views: Views;
  readonly clock: Clock;
  readonly relays: Relays;
  readonly fault: (code: string, error: unknown) => void;
  /** Told that relays may be given mail again: a new day has begun, or less was used than was believed. */
  readonly renewed: () => void;
}

/** Keeps in mind what relays have had today, over all nodes, and notices that a new day begins (UTC). */
export class Quotas {
  readonly #deps: QuotasDeps;
  readonly #wakeUp = new WakeUp();
  #day: number;

  constructor(deps: QuotasDeps) {
    this.#deps = deps;
    this.#day = dayOf(deps.clock.wall());
  }

  /** Ends a wait: the loop looks whether it was told to stop, and at what has changed. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Looks until `stopping` aborts and it is woken. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      await this.look();
      if (stopping.aborted) return;
      const untilNextDay = endOfDay(this.#day) - this.#deps.clock.wall();
      await this.#wakeUp.wait(this.#deps.clock, Math.max(1, Math.min(LOOK_MS, untilNextDay)));
    }
  }

  /** Asks the store what was used today. */
  async look(): Promise<void> {
    const { views, clock, relays, fault, renewed } = this.#deps;
    const limited = [...relays.all()].filter(({ quota }) => quota.applies);
    const day = dayOf(clock.wall());
    const isNewDay = day !== this.#day;
    this.#day = day;
    const spent = limited.filter(({ left }) => left < 1);
    if (limited.length > 0) {
      const since = new Map(limited.map(({ relay, quota }) => [relay.name, quota.changes]));
      try {
        const used = await views.quotaUsed(day);
        for (const { relay, quota } of limited)
          quota.learn(day, used.get(relay.name) ?? 0, since.get(relay.name) ?? 0, clock.wall());
      } catch (error) {
        fault('quota_unknown', error);
      }
    }
    if (isNewDay || spent.some(({ left }) => left >= 1)) renewed();
  }
}
