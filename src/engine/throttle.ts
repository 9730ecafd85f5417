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
  /** A timer will feed the hungry when the rate allows. */
  timed = false;
  /** Lanes with work in hand that found no slot, and those that have but bulk. In order of asking: each gets its turn. */
  readonly #hungry = new Set<Lane>();
  readonly #hungryForBulk = new Set<Lane>();
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

  /** A lane found no room for what it has in hand, and is to be told when there is some. */
  wait(lane: Lane): void {
    this.forget(lane);
    const onlyBulk = lane.ready.count('bulk') === lane.ready.length;
    (onlyBulk ? this.#hungryForBulk : this.#hungry).add(lane);
  }

  /** A lane waits no more. */
  forget(lane: Lane): void {
    this.#hungry.delete(lane);
    this.#hungryForBulk.delete(lane);
  }

  /** Whether any lane waits. */
  get isWaitedFor(): boolean {
    return this.#hungry.size + this.#hungryForBulk.size > 0;
  }

  /** Lanes whose turn it is, each once, as long as there is room (`now`: monotonic ms); they wait no more. */
  *turns(now: () => number): Generator<Lane, void, undefined> {
    for (const [lanes, priority] of [
      [this.#hungry, 'normal'],
      [this.#hungryForBulk, 'bulk'],
    ] as const)
      for (let left = lanes.size; left > 0 && this.hasRoom(priority, now()); left--) {
        const [lane] = lanes;
        if (lane === undefined) break;
        lanes.delete(lane);
        yield lane;
      }
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
