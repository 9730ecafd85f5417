import type { Priority } from '../domain/message.ts';
import { type Share, shareOf, WHOLE } from '../domain/share.ts';
import type { Lane } from './lanes.ts';
import { LOWEST_TURN } from './ready.ts';

/** How many units of claimed work may be in hand, as a multiple of what may be under way. */
const IN_HAND_FACTOR = 2;
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
  /** Claimed units in hand: waiting for a slot, under way or being recorded. */
  inHand = 0;
  /** A timer will feed the hungry when the rate allows. */
  timed = false;
  /** Lanes with work in hand that found no slot, and those that have but bulk. In order of asking: each gets its turn. */
  readonly #hungry = new Set<Lane>();
  readonly #hungryForBulk = new Set<Lane>();
  /** Turns of others since one of those. */
  #passedOver = 0;
  /** The next attempt may take a slot that is kept from bulk. */
  #anySlotForBulk = false;
  #nextStartAt = Number.NEGATIVE_INFINITY;
  readonly #share: () => Share;

  /** `share`: this node's part of the limits, which may change at any time. */
  constructor(limits: ThrottleLimits, share: () => Share = () => WHOLE) {
    this.limits = limits;
    this.#share = share;
  }

  /** Attempts at once of this node. */
  get most(): number {
    return this.mostOf(this.#share());
  }

  /** Attempts at once of a node with such a part of the limits; none without a part of the rate. */
  mostOf(share: Share): number {
    const { maxConcurrency, maxRatePerSecond } = this.limits;
    return maxRatePerSecond > 0 && shareOf(maxRatePerSecond, share) === 0
      ? 0
      : shareOf(maxConcurrency, share);
  }

  /** Whether an attempt may start now (monotonic ms). */
  hasRoom(priority: Priority, now: number): boolean {
    const { most } = this;
    const slots = this.#anySlotForBulk ? most : slotsFor(priority, most);
    return this.inflight < slots && this.waitMs(now) === 0;
  }

  /** How many units may be claimed now; 0 while it is busy and there is room for a few only. */
  get claimRoom(): number {
    const { most } = this;
    const room = most * IN_HAND_FACTOR - this.inHand;
    return this.inflight > 0 && room < most >> 1 ? 0 : Math.max(0, room);
  }

  /** How many of high priority may be, though hands are full of other mail. */
  get claimRoomForHigh(): number {
    return Math.max(0, this.most * (IN_HAND_FACTOR + 1) - this.inHand);
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

  /**
   * Lanes whose turn it is, each once, as long as there is room (`now`: monotonic ms); they wait no more. One turn in
   * eight is that of a lane with bulk, whichever slot it is: else a flood of better mail would keep it waiting for good.
   */
  *turns(now: () => number): Generator<Lane, void, undefined> {
    for (let left = this.#hungry.size + this.#hungryForBulk.size; left > 0; left--) {
      if (!this.hasRoom('normal', now())) return;
      const isBulksTurn = this.#passedOver >= LOWEST_TURN - 1 || this.#hungry.size === 0;
      const lanes = isBulksTurn && this.#hungryForBulk.size > 0 ? this.#hungryForBulk : this.#hungry;
      const [lane] = lanes;
      if (lane === undefined || (this.#hungry.size === 0 && !this.hasRoom('bulk', now()))) return;
      this.#passedOver = lanes === this.#hungry ? this.#passedOver + 1 : 0;
      this.#anySlotForBulk = lanes === this.#hungryForBulk;
      lanes.delete(lane);
      yield lane;
      this.#anySlotForBulk = false;
    }
  }

  /** Takes a slot. */
  begin(now: number): void {
    this.inflight++;
    this.#anySlotForBulk = false;
    this.#pause(now);
  }

  /** Somebody else may have begun an attempt a moment ago. */
  takenOver(now: number): void {
    this.#pause(now);
  }

  #pause(now: number): void {
    // A slot without a part of the rate was taken before the limits were divided anew.
    const rate = Math.max(1, shareOf(this.limits.maxRatePerSecond, this.#share()));
    if (this.limits.maxRatePerSecond > 0) this.#nextStartAt = Math.max(this.#nextStartAt, now) + 1000 / rate;
  }

  /** Gives the slot back. */
  end(): void {
    this.inflight--;
  }
}
