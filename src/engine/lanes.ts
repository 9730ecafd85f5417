import {
  afterAttempt,
  afterProbe,
  type Breaker,
  type BreakerState,
  CLOSED,
  type HopNews,
  isRefused,
  LANE_POLICY,
  paceOf,
  restedUntil,
  stateOf,
} from '../domain/breaker.ts';
import type { LaneLease } from '../domain/lane.ts';
import type { MailboxProvider } from '../domain/mailbox-provider.ts';
import type { Priority } from '../domain/message.ts';
import { type Outcome, type Reply, shortReply } from '../domain/outcome.ts';
import { mostAtOnce } from '../domain/quota.ts';
import {
  afterNews,
  afterRecipients,
  NO_RECIPIENTS,
  openWindow,
  paceNewsOf,
  type RecipientTally,
  type Window,
} from '../domain/window.ts';
import { Stop } from '../lib/stop.ts';
import type { ClaimRequest } from '../store/store.ts';
import type { LaneReply } from './contract.ts';
import { ReadyQueue } from './ready.ts';

/** How much a lane claims, as a multiple of what it may have under way: keeps slots from idling. */
const CLAIM_FACTOR = 2;
/**
 * The same of a hop that is quick: each claim is a commit, whatever it brings, and what is under way waits to be written before
 * it, so it brings more then.
 */
const QUICK_CLAIM_FACTOR = 32;
/** A hop is quick that makes room for the next claim within so many ms, as long as there is more to claim. */
const QUICK_MS = 250;
/**
 * How much a lane may have in hand: of what is claimed for a quick hop, unless it may have more under way; and of fresh mail, which is
 * leased where it lies, in memory, so that taking more of it costs less than queueing it and claiming it again, and whose bytes have
 * a bound of their own.
 */
const MAX_IN_HAND = 5_000;

/** A hop on which no attempt has ended for so long, though some are under way, in ms, is as good as ill for other mail. */
const SILENT_MS = 15_000;

/** How often what matters most is asked for while hands are full of other mail, in ms. */
const HIGH_MS = 500;
/** Of so many claims one takes the lowest priority first, so that a flood of better mail starves nothing. */
const LOWEST_CLAIM = 8;

/** What a relay lets one of its lanes have. */
export interface LaneLimits {
  /** Attempts at once, in health. */
  readonly perLane: number;
  /** Recipients in one transaction. */
  readonly maxRecipients: number;
  /** See {@link takesWhole} of the relay. */
  readonly takesWhole: boolean;
  /** Recipients that it may still have today: of any priority but high, and of high. */
  readonly left: number;
  readonly leftForHigh: number;
  /** No other lane wants the relay's slots: what this one has in hand keeps nothing else from them. */
  readonly soleLane: boolean;
}

/** A lane this node holds: the next hop as the queue sees it, with what is in hand and how the hop feels. */
export class Lane {
  readonly name: string;
  readonly fence: number;
  /** Monotonic ms until which we trust our lease. */
  trustedUntil: number;
  /** Leased and waiting for a slot. */
  readonly ready = new ReadyQueue();
  inflight = 0;
  /** Room promised to messages that are being committed, and units being recorded. */
  reserved = 0;
  /**
   * The store may hold leases of ours that we know nothing of (an answer was lost): nothing new starts, and once
   * nothing is in hand the lane is let go and taken anew, so that they are reclaimed.
   */
  retired = false;
  /**
   * Since when (monotonic ms) it is being left to other nodes; null when it is not. Nothing new starts, and once nothing is
   * in hand it is let go.
   */
  leavingSince: number | null = null;
  /** Until when (monotonic ms) it is not left to others for the sake of balance. */
  staysUntil = Number.NEGATIVE_INFINITY;
  /** The store may have due work that is not in hand. */
  waiting = true;
  /** When the store's next delivery comes due (wall ms); null when none is known. */
  nextDueAt: number | null = null;
  /** The earliest time under which it stands among those that something comes due in; null when it does not. */
  enteredDue: number | null = null;
  /** When an attempt last ended, or the first of those under way began (monotonic ms). */
  heardAt = Number.NEGATIVE_INFINITY;
  /** When one last began, or had its turn beside a hop that is silent and could not (monotonic ms). */
  startedAt = Number.NEGATIVE_INFINITY;
  /** When it last had anything to do (monotonic ms). */
  busyAt: number;
  /** Deliveries that ended, or were put off. */
  readonly rate = new MinuteRate();
  lastReply: LaneReply | null = null;
  /** Aborts what is under way: the lease was lost, or time is up. */
  readonly abort = new Stop();
  /** The hop is being asked whether it is well again; mail waits for the answer. */
  probing = false;
  /** Whose the hop is, of the big mailbox providers; known from the domain, or once one of its hosts was spoken to. */
  provider: MailboxProvider | null = null;
  /** Whose it is was found out: a host was spoken to. */
  isKnown = false;
  /** Units in hand that were claimed, not accepted a moment ago. */
  claimed = 0;
  /** How its hop does, and until when it rests. */
  breaker: Breaker = CLOSED;
  /** Why it rests, or rested last: what its hop said, or what is said in its stead. Null while nothing is known against it. */
  restReply: Reply | null = null;
  /** How many attempts at once the hop has shown to bear; null: all that it may have. */
  window: Window | null = null;
  /** What its hop said of recipients lately. */
  recipients: RecipientTally = NO_RECIPIENTS;
  /** See {@link CLAIM_FACTOR}: doubles while the hop is quick, and halves when it is not. */
  #claimFactor = CLAIM_FACTOR;
  /** When it last asked the store for work (monotonic ms), and whether it got all that it asked for. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #filled = false;
  #askedForHighAt = Number.NEGATIVE_INFINITY;
  #claims = 0;

  constructor(name: string, fence: number, trustedUntil: number, now: number) {
    this.name = name;
    this.fence = fence;
    this.trustedUntil = trustedUntil;
    this.busyAt = now;
  }

  /** Nothing new starts: it is let go as soon as nothing is in hand. */
  get isEnding(): boolean {
    return this.retired || this.leavingSince !== null;
  }

  /** Whether its hop could not even be spoken to, again: another node may be able to. */
  get isOutOfReach(): boolean {
    return this.breaker.failures > 1 && !isRefused(this.breaker) && this.lastReply?.code === null;
  }

  /** Units leased, promised, under way or being recorded. */
  get inHand(): number {
    return this.inflight + this.ready.length + this.reserved;
  }

  /** How many attempts may be under way at `now` (monotonic), when `full` is the most that a well hop gets. */
  pace(now: number, full: number): number {
    if (now >= this.trustedUntil || this.isEnding || this.probing) return 0;
    const borne = this.window === null ? full : Math.min(full, Math.floor(this.window.size));
    return paceOf(this.breaker, now, borne);
  }

  /** Takes what an attempt says about the pace, that still counts as under way. `startedAt`: when it began, `now`: when it ended (monotonic ms). */
  paced(outcomes: readonly Outcome[], full: number, startedAt: number, now: number): void {
    this.recipients = afterRecipients(this.recipients, outcomes);
    const news = paceNewsOf(outcomes, this.recipients);
    if (news === 'nothing' || (news === 'bears' && this.window === null)) return;
    this.window = afterNews(this.window ?? openWindow(full), news, full, startedAt, now, this.inflight);
  }

  /** Whether it has reason to ask the store for work at `now` (wall ms). */
  wantsWork(now: number): boolean {
    if (this.nextDueAt !== null && this.nextDueAt <= now) this.waiting = true;
    return this.waiting;
  }

  /**
   * What to ask the store for now; null when no room is free, of at most `most` units. While slots are busy it waits
   * until a good handful is: small claims cost as much as large ones. What matters most is asked for meanwhile, now and
   * then. Takes note that the asking is under way.
   */
  claimRequest(limits: LaneLimits, atMost: number, mono: number): ClaimRequest | null {
    if (this.isStill(mono)) return null;
    const pace = this.pace(mono, limits.perLane);
    const isFilled = limits.soleLane && this.#filled;
    const isQuick = isFilled && mono - this.#askedAt < QUICK_MS;
    const kept = isQuick ? this.#claimFactor : this.#claimFactor >> 1;
    const bounded = Math.max(CLAIM_FACTOR, Math.min(kept, Math.floor(MAX_IN_HAND / pace)));
    const factor = isFilled ? bounded : CLAIM_FACTOR;
    const isSilent = this.isSilent(mono);
    const most = isSilent ? 1 : atMost;
    const free = (isSilent || pace <= 1 ? pace : pace * factor) - this.inHand;
    const room = Math.min(most, free, limits.left - this.ready.length);
    const worthwhile = this.inflight === 0 ? 1 : Math.min(most, Math.max(1, (pace * (factor - 1)) >> 1));
    if (room < Math.min(worthwhile, Math.max(1, limits.left)) || room < 1)
      return this.requestForHigh(limits, mono);
    this.#claimFactor = isQuick ? Math.min(factor * 2, QUICK_CLAIM_FACTOR) : factor;
    this.#askedAt = mono;
    this.#filled = false;
    this.waiting = false;
    this.nextDueAt = null;
    this.#claims++;
    const isLowest = this.#claims % LOWEST_CLAIM === 0;
    // Of the lowest a share is enough: it is the rest that matters more.
    const limit = isLowest ? Math.max(1, Math.ceil(room / LOWEST_CLAIM)) : room;
    const maxRecipients = mostAtOnce(limits, limits.left);
    return { ...this.#lease(), order: isLowest ? 'bulk_first' : 'high_first', limit, maxRecipients };
  }

  /** Asks for high priority alone, though hands are full, or the rest has had what it may have today. */
  requestForHigh({ perLane, leftForHigh, ...limits }: LaneLimits, mono: number): ClaimRequest | null {
    const pace = this.pace(mono, perLane);
    // Of a hop that may be well again one message is the test.
    const isWell = this.breakerState(mono) === 'closed' && !this.isSilent(mono);
    const most = isWell ? Math.ceil(pace / 2) : Math.min(1, pace - this.inHand);
    const room = Math.min(most, leftForHigh) - this.ready.count('high');
    if (!this.waiting || this.isStill(mono) || room < 1 || mono - this.#askedForHighAt < HIGH_MS) return null;
    this.#askedForHighAt = mono;
    const maxRecipients = mostAtOnce(limits, leftForHigh);
    return { ...this.#lease(), order: 'high_only', limit: room, maxRecipients };
  }

  #lease(): LaneLease {
    return { lane: this.name, fence: this.fence };
  }

  /** The store had all that was asked for, and may have more. */
  filled(): void {
    this.#filled = true;
    this.waiting = true;
  }

  /**
   * Whether fresh mail may be taken in hand at `now`: the hop is well, and nothing older waits in the store, unless it
   * matters most.
   */
  takesFresh(now: number, full: number, priority: Priority): boolean {
    if (this.waiting && priority !== 'high') return false;
    if (this.isSilent(now))
      return !this.isStill(now) && this.inHand === this.inflight && this.inflight < this.pace(now, full);
    // Of a hop that may be well again, the first message is the test.
    if (this.breakerState(now) !== 'closed') return this.inHand < this.pace(now, full);
    return this.pace(now, full) > 0 && this.inHand < MAX_IN_HAND;
  }

  /**
   * Whether mail that could go elsewhere may come here: the hop is well; or it may be, mail alone can tell, and none is
   * finding that out already.
   */
  isFit(now: number, canBeProbed: boolean): boolean {
    if (this.isSilent(now)) return false;
    const state = this.breakerState(now);
    return (
      state === 'closed' || (state === 'half_open' && !canBeProbed && this.inHand === 0 && !this.waiting)
    );
  }

  /** Whether its hop has been saying nothing for long: what is under way goes on, other mail had better not wait for it. */
  isSilent(now: number): boolean {
    return this.inflight > 0 && now - this.heardAt > SILENT_MS;
  }

  /**
   * Whether nothing may start now, since its hop is silent. One attempt may, now and then: it may have been a message that
   * kept the hop, and not the hop that is stuck.
   */
  isStill(now: number): boolean {
    return this.isSilent(now) && now - this.startedAt <= SILENT_MS;
  }

  /** See {@link BreakerState}. */
  breakerState(now: number): BreakerState {
    return stateOf(this.breaker, now);
  }

  /** Takes an attempt's news of the hop; returns for how many ms it newly rests, else 0. */
  heard(news: HopNews, now: number, dice: number): number {
    const before = this.breaker;
    this.breaker = afterAttempt(before, news, LANE_POLICY, now, dice);
    return this.breaker.until > now && this.breaker.until !== before.until ? this.breaker.until - now : 0;
  }

  /** Takes what its hop said when it was asked without mail how it is; returns for how many ms it rests, else 0. */
  probed(news: 'well' | 'ill' | 'refuses_us', now: number, dice: number): number {
    this.breaker = afterProbe(this.breaker, news, now, dice);
    return Math.max(0, this.breaker.until - now);
  }

  /** What was known of its hop is worth nothing any more: the relay leads elsewhere, or an operator says so. */
  forgetHop(): void {
    this.breaker = CLOSED;
    this.restReply = null;
    this.window = null;
    this.recipients = NO_RECIPIENTS;
    this.isKnown = false;
  }

  /** Its hop asked to be left alone until `until` (monotonic ms). */
  restUntil(until: number): void {
    this.breaker = restedUntil(this.breaker, until);
  }

  /** Monotonic ms at which a lane may try again whose hop rests; null when it does not rest. */
  restsUntil(now: number): number | null {
    return this.breaker.until > now ? this.breaker.until : null;
  }

  /** In short, why it rests, or may not be well again yet; null while its hop is well. */
  get restCause(): string | null {
    return this.breaker.failures === 0 || this.restReply === null ? null : shortReply(this.restReply);
  }

  /** The store has, or will have, a delivery due at `dueAt` (wall ms). True when that is sooner than was known. */
  expect(dueAt: number): boolean {
    if (this.nextDueAt !== null && dueAt >= this.nextDueAt) return false;
    this.nextDueAt = dueAt;
    return true;
  }
}

const SLOTS = 6;
const SLOT_MS = 10_000;

/** Counts what happens, and tells how often it did within about the last minute. */
export class MinuteRate {
  readonly #counts = new Uint32Array(SLOTS);
  #slot = Number.NEGATIVE_INFINITY;

  /** Counts one at `now` (monotonic ms). */
  add(now: number): void {
    this.#turn(now);
    const place = this.#slot % SLOTS;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
  }

  /** How many in the last minute. */
  perMinute(now: number): number {
    this.#turn(now);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  #turn(now: number): void {
    const slot = Math.floor(now / SLOT_MS);
    for (let old = Math.max(this.#slot + 1, slot - SLOTS + 1); old <= slot; old++)
      this.#counts[old % SLOTS] = 0;
    this.#slot = Math.max(this.#slot, slot);
  }
}
