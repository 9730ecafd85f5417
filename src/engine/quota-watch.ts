import { localReply } from '../domain/outcome.ts';
import { dayOf, endOfDay } from '../domain/quota.ts';
import { type Clock, WakeUp } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { Unit } from '../store/store.ts';
import type { Views } from '../store/views.ts';
import type { QuotaTaken } from './attempt.ts';
import type { RelayAtWork, Relays } from './relays.ts';

/** How often it is asked what all nodes have used, in ms. */
const LOOK_MS = 10_000;

/** What minding quotas needs. */
interface QuotasDeps {
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

/** What taking from a quota needs. */
interface QuotaDeps {
  readonly clock: Clock;
  readonly events: Events;
  /** Told that mail may have a better way now: a relay has had what it may have today. */
  readonly gotWell: () => void;
}

/** Of a relay without a quota. */
const UNLIMITED: QuotaTaken = { request: null, shortfall: null, answered() {} };

function tooFewLeft(left: number, wanted: number): QuotaTaken {
  const text = `The relay may be given ${left} more recipients today, and takes this message for all ${wanted} or not at all`;
  return { ...UNLIMITED, shortfall: localReply('quota_too_small', '4.7.1', text) };
}

/**
 * Takes a unit's recipients off its relay's quota. Null: there are not so many left today, and fewer are to be claimed. Of what
 * the relay takes whole or not at all there is no fewer: it has had its turn, and waits as what a hop put off.
 */
export function takeQuota(
  { deliveries, priority }: Pick<Unit, 'deliveries' | 'priority'>,
  relay: RelayAtWork,
  { clock, events, gotWell }: QuotaDeps,
): QuotaTaken | null {
  const { quota } = relay;
  if (!quota.applies) return UNLIMITED;
  const { name } = relay.relay;
  const now = clock.wall();
  const left = quota.left(priority, now);
  if (left < deliveries.length)
    return relay.takesWhole && left >= 1 ? tooFewLeft(left, deliveries.length) : null;
  const request = quota.take(name, deliveries.length, priority, now);
  if (request === null) return UNLIMITED;
  return {
    request,
    shortfall: null,
    answered: (answer) => {
      const news = quota.answered(request, answer, clock.wall());
      const state = quota.state(clock.wall());
      if (news !== null && state !== null) events.emit({ type: 'quota', relay: name, news, ...state });
      if (relay.left < 1) gotWell();
    },
  };
}
