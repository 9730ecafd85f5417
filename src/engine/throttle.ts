import type { Priority } from '../domain/message.ts';
import { type Share, shareOf, WHOLE } from '../domain/share.ts';
import type { Lane } from './lanes.ts';
import { LOWEST_TURN } from './ready.ts';

/** How many units of claimed work may be in hand, as a multiple of the concurrency. */
const IN_HAND_FACTOR = 2;
/** One slot in this many is reserved from bulk mail, and always at least one. */
const KEPT_SHARE = 10;

/**
 * How many of that many slots mail of that priority may fill. Bulk leaves one in ten, and at least one of two or more,
 * so that more urgent mail finds a slot at once, however slow the hop.
 */
export function slotsFor(priority: Priority, slots: number): number {
  if (priority !== 'bulk' || slots < 2) return slots;
  return slots - Math.max(1, Math.floor(slots / KEPT_SHARE));
}

/** The limits on attempts of a relay, or of a mailbox provider that a relay delivers to. */
export interface ThrottleLimits {
  /** Attempts at once. */
  readonly maxConcurrency: number;
  /** Attempts begun per second; 0 means no limit. */
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
  /** A timer will serve the waiting lanes when the rate allows. */
  timed = false;
  /**
   * Lanes with work in hand that found no slot, and those with only bulk. In order of asking, so that each gets its
   * turn.
   */
  readonly #hungry = new Set<Lane>();
  readonly #hungryForBulk = new Set<Lane>();
  /** Turns of other lanes since a lane with bulk had one. */
  #passedOver = 0;
  /** The next attempt may take a slot that is reserved from bulk. */
  #anySlotForBulk = false;
  #nextStartAt = Number.NEGATIVE_INFINITY;
  readonly #share: () => Share;

  /** `share`: this node's share of the limits, which may change at any time. */
  constructor(limits: ThrottleLimits, share: () => Share = () => WHOLE) {
    this.limits = limits;
    this.#share = share;
  }

  /** This node's limit of attempts at once. */
  get most(): number {
    return this.mostOf(this.#share());
  }

  /** The limit of attempts at once of a node with such a share; none without a share of the rate. */
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

  /** How many units may be claimed now; 0 while it is busy and has room for only a few. */
  get claimRoom(): number {
    const { most } = this;
    const room = most * IN_HAND_FACTOR - this.inHand;
    return this.inflight > 0 && room < most >> 1 ? 0 : Math.max(0, room);
  }

  /** How many high-priority units may be claimed, even if other mail fills the room. */
  get claimRoomForHigh(): number {
    return Math.max(0, this.most * (IN_HAND_FACTOR + 1) - this.inHand);
  }

  /** Milliseconds until the rate allows the next start. */
  waitMs(now: number): number {
    return Math.max(0, this.#nextStartAt - now);
  }

  /** A lane found no slot for its work, and is to be told when there is one. */
  wait(lane: Lane): void {
    this.forget(lane);
    const onlyBulk = lane.ready.count('bulk') === lane.ready.length;
    (onlyBulk ? this.#hungryForBulk : this.#hungry).add(lane);
  }

  forget(lane: Lane): void {
    this.#hungry.delete(lane);
    this.#hungryForBulk.delete(lane);
  }

  /** Whether any lane waits. */
  get isWaitedFor(): boolean {
    return this.#hungry.size + this.#hungryForBulk.size > 0;
  }

  /**
   * The lanes whose turn it is, each once, while there is room (`now`: monotonic ms); they stop waiting. One turn in
   * eight goes to a lane with bulk, whichever slot it is: otherwise a flood of more urgent mail would keep it waiting
   * for good.
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

  /** Another lane may have begun an attempt a moment ago. */
  takenOver(now: number): void {
    this.#pause(now);
  }

  #pause(now: number): void {
    // The slot was taken before the limits were divided anew, and may now have no share of the rate.
    const rate = Math.max(1, shareOf(this.limits.maxRatePerSecond, this.#share()));
    if (this.limits.maxRatePerSecond > 0) this.#nextStartAt = Math.max(this.#nextStartAt, now) + 1000 / rate;
  }

  end(): void {
    this.inflight--;
  }
}
