import type { Priority } from '../domain/message.ts';
import { allowanceOf, dayOf, QUOTA_ALERT, shareOf } from '../domain/quota.ts';
import type { RelayLimits } from '../domain/relay.ts';
import type { BeginAnswer, QuotaRefund, QuotaRequest } from '../store/store.ts';

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
