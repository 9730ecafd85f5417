import type { Priority } from '../domain/message.ts';
import { localReply, type Reply } from '../domain/outcome.ts';
import {
  allowanceOf,
  dayOf,
  endOfDay,
  QUOTA_ALERT,
  type QuotaRefund,
  type QuotaRequest,
  shareOf,
} from '../domain/quota.ts';
import type { RelayLimits } from '../domain/relay.ts';
import { type Clock, WakeUp } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { BeginAnswer } from '../store/leased.ts';
import type { Unit } from '../store/store.ts';
import type { Views } from '../store/views.ts';

/** The limits of a relay that its quota depends on. */
export type QuotaLimits = Pick<RelayLimits, 'maxPerDay' | 'reservePercent' | 'warmUp'>;

/** How much of a day's quota a relay has used. */
export interface QuotaState {
  /** Recipients allowed that day. */
  readonly allowance: number;
  /** Recipients sent, or possibly sent. */
  readonly used: number;
  /** The allowance is a step of the warm-up. */
  readonly warming: boolean;
}

/**
 * More than the clocks of nodes differ, in ms; a clock set back by less at midnight does not bring back the old day.
 */
const MIDNIGHT_MS = 60_000;

/** Quota news for operators, once a day each. */
export type QuotaNews = 'low' | 'used_up';

/**
 * What a relay may still send today, as far as this node knows. The store's figure is authoritative: it refuses what
 * exceeds the quota. Times are wall ms.
 */
export class Quota {
  #limits: QuotaLimits;
  #day = Number.NEGATIVE_INFINITY;
  /** As far as is known; other nodes may have used more. */
  #used = 0;
  /** Asked of the store and not answered yet. */
  #pending = 0;
  /** Counts changes to the figure, to recognize a stored figure that was read before one. */
  #changes = 0;
  #told: QuotaNews | null = null;

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  /** The relay's limits have changed. */
  limit(limits: QuotaLimits): void {
    const { maxPerDay, reservePercent, warmUp } = this.#limits;
    const isSame = maxPerDay === limits.maxPerDay && reservePercent === limits.reservePercent;
    if (!isSame || (warmUp === null) !== (limits.warmUp === null)) this.#told = null;
    this.#limits = limits;
  }

  /** Whether there is a limit on any day. */
  get applies(): boolean {
    return this.#limits.maxPerDay > 0 || this.#limits.warmUp !== null;
  }

  /** Today's state; null without a limit today. */
  state(now: number): QuotaState | null {
    const allowance = this.#allowance(now);
    if (allowance === null) return null;
    const { maxPerDay } = this.#limits;
    return { allowance, used: this.#used, warming: maxPerDay === 0 || allowance < maxPerDay };
  }

  /** Recipients that mail of this priority may still have today; infinite without a limit. */
  left(priority: Priority, now: number): number {
    if (!this.applies) return Number.POSITIVE_INFINITY;
    const share = this.#share(priority, now);
    return share === null ? Number.POSITIVE_INFINITY : Math.max(0, share - this.#used - this.#pending);
  }

  /**
   * Takes that many recipients, to ask the store for. Null: no limit today, so nothing to ask. Take no more than
   * `left`.
   */
  take(relay: string, recipients: number, priority: Priority, now: number): QuotaRequest | null {
    const limit = this.#share(priority, now);
    if (limit === null) return null;
    this.#pending += recipients;
    return { relay, day: this.#day, recipients, limit };
  }

  /** Takes the store's answer, or null for none. Returns what an operator should hear. */
  answered(
    { day, recipients, limit }: QuotaRequest,
    answer: BeginAnswer | null,
    now: number,
  ): QuotaNews | null {
    this.#roll(now);
    if (day !== this.#day) return null;
    // Requests made before the clock went forward and back no longer count.
    this.#pending = Math.max(0, this.#pending - recipients);
    this.#changes++;
    // Other nodes used the quota up, but for less than this request.
    if (answer === 'over_quota') this.#used = Math.max(this.#used, limit - recipients + 1);
    if (answer === 'begun') this.#used += recipients;
    return this.#news(now);
  }

  /** Recipients were proved not to have been taken. */
  refunded({ day, recipients }: QuotaRefund, now: number): void {
    this.#roll(now);
    if (day !== this.#day) return;
    this.#changes++;
    this.#used = Math.max(0, this.#used - recipients);
  }

  /** Read this before the store's figure, and pass it to `learn` with it. */
  get changes(): number {
    return this.#changes;
  }

  /** Takes the store's figure for that day, read after `changes` had the value `since`. */
  learn(day: number, used: number, since: number, now: number): void {
    this.#roll(now);
    if (day !== this.#day) return;
    // The figure may or may not include what began since, so it may only raise ours.
    const isExact = since === this.#changes && this.#pending === 0;
    this.#used = isExact ? used : Math.max(this.#used, used);
  }

  #share(priority: Priority, now: number): number | null {
    const allowance = this.#allowance(now);
    return allowance === null ? null : shareOf(allowance, this.#limits.reservePercent, priority);
  }

  #allowance(now: number): number | null {
    this.#roll(now);
    return allowanceOf(this.#limits, this.#day);
  }

  /**
   * A new day starts unused, as far as is known; after a clock was set back to an earlier day, the store knows better.
   * A small clock correction at midnight does not count as another day.
   */
  #roll(now: number): void {
    const day = dayOf(now);
    if (day === this.#day || (day < this.#day && dayOf(now + MIDNIGHT_MS) === this.#day)) return;
    this.#day = day;
    this.#used = 0;
    this.#pending = 0;
    this.#told = null;
  }

  #news(now: number): QuotaNews | null {
    // The part reserved for high priority does not help the rest.
    const share = this.#share('normal', now);
    if (share === null || share === 0) return null;
    const news = this.#used >= share ? 'used_up' : this.#used >= share * QUOTA_ALERT ? 'low' : null;
    if (news === null || news === this.#told || this.#told === 'used_up') return null;
    this.#told = news;
    return news;
  }
}

/** How often the usage of all nodes is read, in ms. */
const LOOK_MS = 10_000;

interface QuotaWatchDeps {
  readonly views: Views;
  readonly clock: Clock;
  readonly relays: { all(): Iterable<RelayWithQuota> };
  readonly fault: (code: string, error: unknown) => void;
  /** Called when relays may send again: a new day has begun, or less was used than believed. */
  readonly renewed: () => void;
}

/** Follows what relays have used today over all nodes, and notices the start of a new day (UTC). */
export class QuotaWatch {
  readonly #deps: QuotaWatchDeps;
  readonly #wakeUp = new WakeUp();
  #day: number;

  constructor(deps: QuotaWatchDeps) {
    this.#deps = deps;
    this.#day = dayOf(deps.clock.wall());
  }

  /** Ends a wait, so that the loop checks for changes and whether to stop. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Watches until `stopping` aborts and `wake` is called. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      await this.look();
      if (stopping.aborted) return;
      const untilNextDay = endOfDay(this.#day) - this.#deps.clock.wall();
      await this.#wakeUp.wait(this.#deps.clock, Math.max(1, Math.min(LOOK_MS, untilNextDay)));
    }
  }

  /** Reads today's usage from the store. */
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

/** The fields of a relay that its quota needs. */
interface RelayWithQuota {
  readonly relay: { readonly name: string };
  readonly quota: Quota;
  /** What is left today for mail of normal priority. */
  readonly left: number;
  /** It takes all recipients of a message or none. */
  readonly takesWhole: boolean;
}

interface QuotaDeps {
  readonly clock: Clock;
  readonly events: Events;
  /** Called when mail may have a better way: a relay's quota is used up. */
  readonly gotWell: () => void;
}

/** What an attempt takes from its relay's quota, and how to pass on the store's answer. */
export interface QuotaTaken {
  /** Null: no limit. */
  readonly request: QuotaRequest | null;
  /** Why the attempt cannot be made today though some quota is left; null if it can. */
  readonly shortfall: Reply | null;
  /** Null: the store gave no answer. */
  answered(answer: BeginAnswer | null): void;
}

/** For a relay without a quota. */
const UNLIMITED: QuotaTaken = { request: null, shortfall: null, answered() {} };

function tooFewLeft(left: number, wanted: number): QuotaTaken {
  const text = `The relay may get ${left} more recipients today, and accepts this message for all ${wanted} or not at all`;
  return { ...UNLIMITED, shortfall: localReply('quota_too_small', '4.7.1', text) };
}

/**
 * Takes a unit's recipients from its relay's quota. Null: fewer are left today, so a smaller unit must be claimed. A
 * relay that takes all recipients or none cannot get fewer: the unit gets a shortfall, and waits as if the hop had
 * deferred it.
 */
export function takeQuota(
  { deliveries, priority }: Pick<Unit, 'deliveries' | 'priority'>,
  relay: RelayWithQuota,
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
