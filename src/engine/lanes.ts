import { type Pause, paceOf, pauseAfterFailure, WELL } from '../domain/pause.ts';
import type { RelayLimits } from '../domain/relay.ts';
import type { ClaimRequest } from '../store/store.ts';
import { type Job, ReadyQueue } from './ready.ts';

/** How much a lane claims, as a multiple of what it may have under way: keeps slots from idling. */
const CLAIM_FACTOR = 2;
/**
 * How much fresh mail a lane may have in hand. It is leased where it lies, in memory, so taking more of it costs
 * less than queueing it and claiming it again; its bytes have a bound of their own.
 */
const MAX_FRESH = 5_000;

/** A lane this node holds: the next hop as the queue sees it, with what is in hand and how the hop feels. */
export class Lane {
  readonly name: string;
  readonly fence: number;
  /** Monotonic ms until which we trust our lease. */
  trustedUntil: number;
  /** Leased and waiting for a slot. */
  readonly ready = new ReadyQueue();
  inflight = 0;
  /** Room promised to messages that are being committed. */
  reserved = 0;
  /**
   * The store may hold leases of ours that we know nothing of (an answer was lost): nothing new starts, and once
   * nothing is in hand the lane is let go and taken anew, so that they are reclaimed.
   */
  retired = false;
  /** The store may have due work that is not in hand. */
  waiting = true;
  /** When the store's next delivery comes due (wall ms); null when none is known. */
  nextDueAt: number | null = null;
  /** Aborts what is under way: the lease was lost, or time is up. */
  readonly abort = new AbortController();
  #pause: Pause = WELL;

  constructor(name: string, fence: number, trustedUntil: number) {
    this.name = name;
    this.fence = fence;
    this.trustedUntil = trustedUntil;
  }

  /** Units leased, promised, under way or being recorded. */
  get inHand(): number {
    return this.inflight + this.ready.length + this.reserved;
  }

  /** How many attempts may be under way at `now` (monotonic), when `full` is what a well hop gets. */
  pace(now: number, full: number): number {
    return now < this.trustedUntil && !this.retired ? paceOf(this.#pause, now, full) : 0;
  }

  /**
   * What to ask the store for now; null when nothing is due or no room is free. While slots are busy it waits
   * until a good handful is: small claims cost as much as large ones. Takes note that the asking is under way.
   */
  claimRequest(limits: RelayLimits, wall: number, mono: number, polling: boolean): ClaimRequest | null {
    if (this.nextDueAt !== null && this.nextDueAt <= wall) this.waiting = true;
    if (!this.waiting && !polling) return null;
    const pace = this.pace(mono, limits.maxConcurrency);
    const room = (pace <= 1 ? pace : pace * CLAIM_FACTOR) - this.inHand;
    const worthwhile = this.inflight === 0 ? 1 : Math.max(1, pace >> 1);
    if (room < worthwhile) return null;
    this.waiting = false;
    this.nextDueAt = null;
    return { lane: this.name, fence: this.fence, limit: room, maxRecipients: limits.maxRecipients };
  }

  /** Whether fresh mail may be taken in hand at `now`: the hop is well, and nothing older waits in the store. */
  takesFresh(now: number, full: number): boolean {
    return !this.waiting && this.pace(now, full) > 1 && this.inHand < MAX_FRESH;
  }

  /** The hop works again. */
  hopWell(): void {
    this.#pause = WELL;
  }

  /** The hop failed; returns the pause in ms if this is a new one, else 0. */
  hopFailed(now: number, dice: number): number {
    const before = this.#pause;
    this.#pause = pauseAfterFailure(before, now, dice);
    return this.#pause === before ? 0 : this.#pause.until - now;
  }

  /** Monotonic ms at which a paused lane may try again; null when it is not paused. */
  pausedUntil(now: number): number | null {
    return this.#pause.until > now ? this.#pause.until : null;
  }

  /** The store has, or will have, a delivery due at `dueAt` (wall ms). */
  expect(dueAt: number): void {
    if (this.nextDueAt === null || dueAt < this.nextDueAt) this.nextDueAt = dueAt;
  }

  /** Takes back what waits for a slot, for releasing. */
  takeReady(): Job[] {
    return this.ready.takeAll();
  }
}
