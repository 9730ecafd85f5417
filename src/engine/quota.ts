import type { Priority } from '../domain/message.ts';
import { localReply, type Reply } from '../domain/outcome.ts';
import { allowanceOf, dayOf, endOfDay, QUOTA_ALERT, shareOf } from '../domain/quota.ts';
import type { RelayLimits } from '../domain/relay.ts';
import { type Clock, WakeUp } from '../lib/clock.ts';
import type { Events } from '../observe/events.ts';
import type { BeginAnswer, QuotaRefund, QuotaRequest, Unit } from '../store/store.ts';
import type { Views } from '../store/views.ts';

/** What of the relay's limits a quota goes by. */
export type QuotaLimits = Pick<RelayLimits, 'maxPerDay' | 'reservePercent' | 'warmUp'>;

/** How much of a day's allowance a relay has used. */
export interface QuotaState {
  /** Recipients it may have that day. */
  readonly allowance: number;
  /** Recipients it has had, or may have had. */
  readonly used: number;
  /** The allowance is a step of its warm-up. */
  readonly warming: boolean;
}

/** Clocks of nodes differ by less, and so much of a day counts to the next where a clock goes back at midnight, in ms. */
const MIDNIGHT_MS = 60_000;

/** News of a quota that an operator should hear, once a day. */
export type QuotaNews = 'low' | 'used_up';

/**
 * What a relay may still be given today, as this node knows it. The store's figure is the truth: it refuses what would be
 * too much whatever is believed here. Times are wall ms.
 */
export class Quota {
  #limits: QuotaLimits;
  #day = Number.NEGATIVE_INFINITY;
  /** As far as is known; other nodes may have used more. */
  #used = 0;
  /** Asked of the store and not yet answered. */
  #pending = 0;
  /** Counts what changed the figure, so that one that was read before is known to be old. */
  #changes = 0;
  #told: QuotaNews | null = null;

  constructor(limits: QuotaLimits) {
    this.#limits = limits;
  }

  /** The relay's limits are others now. */
  limit(limits: QuotaLimits): void {
    const { maxPerDay, reservePercent, warmUp } = this.#limits;
    const isSame = maxPerDay === limits.maxPerDay && reservePercent === limits.reservePercent;
    if (!isSame || (warmUp === null) !== (limits.warmUp === null)) this.#told = null;
    this.#limits = limits;
  }

  /** Whether there is any limit of the kind, on any day. */
  get applies(): boolean {
    return this.#limits.maxPerDay > 0 || this.#limits.warmUp !== null;
  }

  /** How things stand; null without a limit today. */
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

  /** Takes so many recipients, to be asked of the store. Null: no limit today, nothing to ask. Ask only what is `left`. */
  take(relay: string, recipients: number, priority: Priority, now: number): QuotaRequest | null {
    const limit = this.#share(priority, now);
    if (limit === null) return null;
    this.#pending += recipients;
    return { relay, day: this.#day, recipients, limit };
  }

  /** The store has answered, or (null) has not. Returns what an operator should hear. */
  answered(
    { day, recipients, limit }: QuotaRequest,
    answer: BeginAnswer | null,
    now: number,
  ): QuotaNews | null {
    this.#roll(now);
    if (day !== this.#day) return null;
    // What was asked before the clock went and came back counts no more.
    this.#pending = Math.max(0, this.#pending - recipients);
    this.#changes++;
    // Others have used it up, but for less than this asked for.
    if (answer === 'over_quota') this.#used = Math.max(this.#used, limit - recipients + 1);
    if (answer === 'begun') this.#used += recipients;
    return this.#news(now);
  }

  /** Recipients proved not to have been taken. */
  refunded({ day, recipients }: QuotaRefund, now: number): void {
    this.#roll(now);
    if (day !== this.#day) return;
    this.#changes++;
    this.#used = Math.max(0, this.#used - recipients);
  }

  /** To be asked before the store's figure is read, and given to `learn` with it. */
  get changes(): number {
    return this.#changes;
  }

  /** What the store says was used of that day; read after `changes` had the value `since`. */
  learn(day: number, used: number, since: number, now: number): void {
    this.#roll(now);
    if (day !== this.#day) return;
    // What was begun since it was read may be in it or not: then only more is believed.
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
   * Another day begins with nothing used, as far as is known: of one that a clock which went back brings back, the store
   * knows better. A clock that is set by a little at midnight brings none back.
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
    // What is kept for high priority is no comfort to the rest.
    const share = this.#share('normal', now);
    if (share === null || share === 0) return null;
    const news = this.#used >= share ? 'used_up' : this.#used >= share * QUOTA_ALERT ? 'low' : null;
    if (news === null || news === this.#told || this.#told === 'used_up') return null;
    this.#told = news;
    return news;
  }
}

/** How often it is asked what all nodes have used, in ms. */
const LOOK_MS = 10_000;

/** What minding quotas needs. */
interface QuotaWatchDeps {
  readonly views: Views;
  readonly clock: Clock;
  readonly relays: { all(): Iterable<RelayWithQuota> };
  readonly fault: (code: string, error: unknown) => void;
  /** Told that relays may be given mail again: a new day has begun, or less was used than was believed. */
  readonly renewed: () => void;
}

/** Keeps in mind what relays have had today, over all nodes, and notices that a new day begins (UTC). */
export class QuotaWatch {
  readonly #deps: QuotaWatchDeps;
  readonly #wakeUp = new WakeUp();
  #day: number;

  constructor(deps: QuotaWatchDeps) {
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

/** A relay at work, as far as its quota goes. */
interface RelayWithQuota {
  readonly relay: { readonly name: string };
  readonly quota: Quota;
  /** What is left today for mail of normal priority. */
  readonly left: number;
  /** It takes all recipients of a message or none. */
  readonly takesWhole: boolean;
}

/** What taking from a quota needs. */
interface QuotaDeps {
  readonly clock: Clock;
  readonly events: Events;
  /** Told that mail may have a better way now: a relay has had what it may have today. */
  readonly gotWell: () => void;
}

/** What an attempt takes off its relay's quota, and who is told what the store says to it. */
export interface QuotaTaken {
  /** Null: no limit. */
  readonly request: QuotaRequest | null;
  /** Why it cannot be made today though something is left; null where it can. */
  readonly shortfall: Reply | null;
  /** Null: the store gave no answer. */
  answered(answer: BeginAnswer | null): void;
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
