import type { Priority } from '../domain/message.ts';
import type { Lane } from './lanes.ts';

/** One of so many slots is kept from bulk mail, and always one. */
const KEPT_SHARE = 10;

/**
 * How many of so many slots mail of that priority may fill. Bulk leaves some, so that what matters more finds one at
 * once, however slow the hop: one in ten, and at least one of two or more.
 */
export function slotsFor(priority: Priority, slots: number): number {
  if (priority !== 'bulk' || slots < 2) return slots;
  return slots - Math.max(1, Math.floor(slots / KEPT_SHARE));
}

/** What bounds the attempts of a relay, or of a mailbox provider that a relay delivers to. */
export interface ThrottleLimits {
  /** Attempts at once. */
  readonly maxConcurrency: number;
  /** Attempts begun a second; 0 means no limit. */
  readonly maxRatePerSecond: number;
}

/** Slots and a rate that several lanes share, and the lanes that wait for either. */
export class Throttle {
  /** May change while attempts are under way. */
  limits: ThrottleLimits;
  /** Attempts under way over all lanes. */
  inflight = 0;
  /** Lanes with work in hand that found no slot. In order of asking: each gets its turn. */
  readonly hungry = new Set<Lane>();
  /** A timer will feed the hungry when the rate allows. */
  timed = false;
  #nextStartAt = Number.NEGATIVE_INFINITY;

  constructor(limits: ThrottleLimits) {
    this.limits = limits;
  }

  /** Whether an attempt may start now (monotonic ms). */
  hasRoom(priority: Priority, now: number): boolean {
    return this.inflight < slotsFor(priority, this.limits.maxConcurrency) && this.waitMs(now) === 0;
  }

  /** Milliseconds until the rate lets the next attempt start. */
  waitMs(now: number): number {
    return Math.max(0, this.#nextStartAt - now);
  }

  /** Takes a slot. */
  begin(now: number): void {
    this.inflight++;
    const rate = this.limits.maxRatePerSecond;
    if (rate > 0) this.#nextStartAt = Math.max(this.#nextStartAt, now) + 1000 / rate;
  }

  /** Gives the slot back. */
  end(): void {
    this.inflight--;
  }
}
