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

/** How much a lane claims, as a multiple of its concurrency: keeps slots from idling. */
const CLAIM_FACTOR = 2;
/**
 * The same for a quick hop. Each claim is a commit, whatever it returns, and attempts under way wait for it before they
 * are recorded, so a quick hop's claims are larger.
 */
const QUICK_CLAIM_FACTOR = 32;
/** A hop is quick if it makes room for the next claim within this many ms while there is more to claim. */
const QUICK_MS = 250;
/**
 * How many units a lane may have in hand: claimed for a quick hop, unless its concurrency is higher; and of fresh mail.
 * Fresh mail is leased where it is, in memory, which costs less than queueing and claiming it; its bytes have a limit
 * of their own.
 */
const MAX_IN_HAND = 5_000;

/**
 * A hop with attempts under way, none of which has ended for this long, in ms, is treated as unhealthy for other mail.
 */
const SILENT_MS = 15_000;

/** How often high priority is claimed while other mail fills the lane, in ms. */
const HIGH_MS = 500;
/** One claim in this many takes the lowest priority first, so that a flood of more urgent mail starves nothing. */
const LOWEST_CLAIM = 8;

/** What a relay allows one of its lanes. */
export interface LaneLimits {
  /** Attempts at once, while healthy. */
  readonly perLane: number;
  /** Recipients in one transaction. */
  readonly maxRecipients: number;
  /** See {@link takesWhole} of the relay. */
  readonly takesWhole: boolean;
  /** Recipients left today, for normal and bulk priority, and for high priority. */
  readonly left: number;
  readonly leftForHigh: number;
  /** No other lane needs the relay's slots, so work in hand here keeps no other lane waiting. */
  readonly soleLane: boolean;
}

/** A lane this node holds: the next hop as the queue sees it, with the work in hand and the health of the hop. */
export class Lane {
  readonly name: string;
  readonly fence: number;
  /** Monotonic ms until which we trust our lease. */
  trustedUntil: number;
  /** Leased work that waits for a slot. */
  readonly ready = new ReadyQueue();
  inflight = 0;
  /** Room promised to messages that are being committed, and units that are being recorded. */
  reserved = 0;
  /**
   * The store may hold leases of ours that we do not know (an answer was lost): nothing new starts, and once nothing is
   * in hand the lane is released and acquired again, which reclaims them.
   */
  retired = false;
  /**
   * When leaving it to other nodes began (monotonic ms); null if it is not being left. Nothing new starts, and it is
   * released once nothing is in hand.
   */
  leavingSince: number | null = null;
  /** Until when (monotonic ms) balancing does not leave it to other nodes. */
  staysUntil = Number.NEGATIVE_INFINITY;
  /** The store may have due work that is not in hand. */
  waiting = true;
  /** When the store's next delivery comes due (wall ms); null if none is known. */
  nextDueAt: number | null = null;
  /** The earliest time under which it is in the heap of due times; null if it is not there. */
  enteredDue: number | null = null;
  /** When an attempt last ended, or the first of those under way began (monotonic ms). */
  heardAt = Number.NEGATIVE_INFINITY;
  /** When an attempt last began, or was due on a silent hop and could not begin (monotonic ms). */
  startedAt = Number.NEGATIVE_INFINITY;
  /** When it last had work (monotonic ms). */
  busyAt: number;
  /** Deliveries that ended or were deferred. */
  readonly rate = new MinuteRate();
  lastReply: LaneReply | null = null;
  /** Aborts what is under way: the lease was lost, or the time to stop is over. */
  readonly abort = new Stop();
  /** The hop is being probed; mail waits for the answer. */
  probing = false;
  /** The big mailbox provider that runs the hop; known from the domain, or after a connection to one of its hosts. */
  provider: MailboxProvider | null = null;
  /** The provider is settled: a connection to a host was made. */
  isKnown = false;
  /** Units in hand that were claimed rather than freshly accepted. */
  claimed = 0;
  /** The health of its hop, and until when it rests. */
  breaker: Breaker = CLOSED;
  /**
   * Why it rests, or last rested: the hop's reply, or one of ours in its place. Null while nothing is known against the
   * hop.
   */
  restReply: (Reply & { readonly at: number }) | null = null;
  /** Since when its hop has been unhealthy (wall ms): it rests, or is being tested. Null while it is healthy. */
  illSince: number | null = null;
  /** How many attempts at once the hop has proved to sustain; null for the full limit. */
  window: Window | null = null;
  /** What its hop recently said about recipients. */
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

  /** Nothing new starts; it is released as soon as nothing is in hand. */
  get isEnding(): boolean {
    return this.retired || this.leavingSince !== null;
  }

  /** Whether connecting to its hop failed repeatedly: another node may reach it. */
  get isOutOfReach(): boolean {
    return this.breaker.failures > 1 && !isRefused(this.breaker) && this.lastReply?.code === null;
  }

  /** Units leased, promised, under way or being recorded. */
  get inHand(): number {
    return this.inflight + this.ready.length + this.reserved;
  }

  /** How many attempts may be under way at `now` (monotonic ms); `full` is the limit for a healthy hop. */
  pace(now: number, full: number): number {
    if (now >= this.trustedUntil || this.isEnding || this.probing) return 0;
    const borne = this.window === null ? full : Math.min(full, Math.floor(this.window.size));
    return paceOf(this.breaker, now, borne);
  }

  /**
   * Adjusts the window by the outcomes of an attempt that still counts as under way. `startedAt`: when it began, `now`:
   * when it ended (monotonic ms).
   */
  paced(outcomes: readonly Outcome[], full: number, startedAt: number, now: number): void {
    this.recipients = afterRecipients(this.recipients, outcomes);
    const news = paceNewsOf(outcomes, this.recipients);
    if (news === 'nothing' || (news === 'bears' && this.window === null)) return;
    this.window = afterNews(this.window ?? openWindow(full), news, full, startedAt, now, this.inflight);
  }

  /** Whether it should ask the store for work at `now` (wall ms). */
  wantsWork(now: number): boolean {
    if (this.nextDueAt !== null && this.nextDueAt <= now) this.waiting = true;
    return this.waiting;
  }

  /**
   * What to claim now, at most `atMost` units; null if there is no room. While slots are busy it waits until there is
   * room for several: a small claim costs as much as a large one. Meanwhile it asks for high priority now and then.
   * Records that a claim is under way.
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
    // A share is enough for the lowest priority: the rest matters more.
    const limit = isLowest ? Math.max(1, Math.ceil(room / LOWEST_CLAIM)) : room;
    const maxRecipients = mostAtOnce(limits, limits.left);
    return { ...this.#lease(), order: isLowest ? 'bulk_first' : 'high_first', limit, maxRecipients };
  }

  /** A claim of high priority alone, for a lane that is full or whose quota for other mail is used up. */
  requestForHigh({ perLane, leftForHigh, ...limits }: LaneLimits, mono: number): ClaimRequest | null {
    const pace = this.pace(mono, perLane);
    // A half-open hop is tested with one message.
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

  /** The store returned all that was asked for, and may have more. */
  filled(): void {
    this.#filled = true;
    this.waiting = true;
  }

  /**
   * Whether fresh mail may be taken in hand at `now`: the hop is healthy, and nothing older waits in the store, unless
   * the mail is of high priority.
   */
  takesFresh(now: number, full: number, priority: Priority): boolean {
    if (this.waiting && priority !== 'high') return false;
    if (this.isSilent(now))
      return !this.isStill(now) && this.inHand === this.inflight && this.inflight < this.pace(now, full);
    // A half-open hop is tested with the first message.
    if (this.breakerState(now) !== 'closed') return this.inHand < this.pace(now, full);
    return this.pace(now, full) > 0 && this.inHand < MAX_IN_HAND;
  }

  /**
   * Whether mail that has another way may come here: the hop is healthy, or it is half-open, only mail can test it, and
   * no test is under way.
   */
  isFit(now: number, canBeProbed: boolean): boolean {
    if (this.isSilent(now)) return false;
    const state = this.breakerState(now);
    return (
      state === 'closed' || (state === 'half_open' && !canBeProbed && this.inHand === 0 && !this.waiting)
    );
  }

  /** Whether its hop has not answered for long: attempts under way go on, and other mail should avoid it. */
  isSilent(now: number): boolean {
    return this.inflight > 0 && now - this.heardAt > SILENT_MS;
  }

  /**
   * Whether nothing may start now because its hop is silent. One attempt may, now and then: a single message may have
   * held up the hop.
   */
  isStill(now: number): boolean {
    return this.isSilent(now) && now - this.startedAt <= SILENT_MS;
  }

  /** See {@link BreakerState}. */
  breakerState(now: number): BreakerState {
    return stateOf(this.breaker, now);
  }

  /** Takes what an attempt says about the hop; returns for how many ms it newly rests, else 0. */
  heard(news: HopNews, now: number, dice: number): number {
    const before = this.breaker;
    this.breaker = afterAttempt(before, news, LANE_POLICY, now, dice);
    return this.breaker.until > now && this.breaker.until !== before.until ? this.breaker.until - now : 0;
  }

  /** Takes the result of a probe without mail; returns for how many ms it rests, else 0. */
  probed(news: 'well' | 'ill' | 'refuses_us', now: number, dice: number): number {
    this.breaker = afterProbe(this.breaker, news, now, dice);
    return Math.max(0, this.breaker.until - now);
  }

  /** Forgets what was known of its hop: the relay leads elsewhere, or an operator asked for it. */
  forgetHop(): void {
    this.breaker = CLOSED;
    this.restReply = null;
    this.illSince = null;
    this.window = null;
    this.recipients = NO_RECIPIENTS;
    this.isKnown = false;
  }

  /** Its hop asked for no mail until `until` (monotonic ms). */
  restUntil(until: number): void {
    this.breaker = restedUntil(this.breaker, until);
  }

  /** When a resting lane may try again (monotonic ms); null if it does not rest. */
  restsUntil(now: number): number | null {
    return this.breaker.until > now ? this.breaker.until : null;
  }

  /** Why it rests, or may still be unhealthy, in short; null while its hop is healthy. */
  get restCause(): string | null {
    return this.breaker.failures === 0 || this.restReply === null ? null : shortReply(this.restReply);
  }

  /** The store has, or will have, a delivery due at `dueAt` (wall ms). True if that is sooner than known before. */
  expect(dueAt: number): boolean {
    if (this.nextDueAt !== null && dueAt >= this.nextDueAt) return false;
    this.nextDueAt = dueAt;
    return true;
  }
}

const SLOTS = 6;
const SLOT_MS = 10_000;

/** Counts events, and tells how many there were in about the last minute. */
export class MinuteRate {
  readonly #counts = new Uint32Array(SLOTS);
  #slot = Number.NEGATIVE_INFINITY;

  /** Counts one at `now` (monotonic ms). */
  add(now: number): void {
    this.#turn(now);
    const place = this.#slot % SLOTS;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
  }

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
