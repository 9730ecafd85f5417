import { relayOfLane } from '../domain/lane.ts';
import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/wakeup.ts';
import type { ClaimRequest, Store } from '../store/store.ts';
import { DueTimes } from './due-times.ts';
import type { Lane, LaneLimits } from './lanes.ts';
import { isAmbiguous } from './persist.ts';
import type { RelayAtWork, Relays } from './relays.ts';

/** How often lanes are asked for work even when nothing hints at any, in ms. */
const POLL_MS = 500;
/** So many lanes are asked so at a time, in turn: with more of them each is asked less often. */
const POLLED_AT_ONCE = 128;

/** What claiming needs. */
export interface ClaimsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly node: string;
  readonly fault: (code: string, error: unknown) => void;
}

/** Who works on what is claimed. */
export interface Claimant {
  /** Starts what a lane has in hand, as far as it may. */
  pump(lane: Lane): void;
  /** A lane whose hop was ill may try again. */
  rested(lane: Lane): void;
  /** Starts nothing more on a lane whose leases we cannot be sure to know. */
  retire(lane: Lane): void;
}

/** What its relay lets that lane have. */
function limitsOf(relay: RelayAtWork, lane: Lane): LaneLimits {
  const { maxRecipients, left, leftForHigh, soleLane } = relay;
  return { perLane: relay.perLaneOf(lane), maxRecipients, left, leftForHigh, soleLane };
}

/** A lane, and what it would like to claim. */
interface Wish {
  readonly lane: Lane;
  readonly request: ClaimRequest;
}

/**
 * CLAIM: asks the store for due work of the lanes that have room. Costs what the lanes cost that something happened to,
 * however many there are.
 */
export class Claims {
  readonly #deps: ClaimsDeps;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #relays: Relays;
  readonly #claimant: Claimant;
  readonly #feed = new WakeUp();
  /** Lanes that may have work to be asked for, by relay; the longest unasked first. */
  readonly #stirred = new Map<string, Set<Lane>>();
  /** When something comes due (wall ms), and when a rest ends (monotonic ms). */
  readonly #due = new DueTimes<Lane>();
  readonly #rests = new DueTimes<Lane>();
  #lastPollAt = Number.NEGATIVE_INFINITY;
  #polling: Iterator<Lane> | null = null;

  constructor(deps: ClaimsDeps, lanes: ReadonlyMap<string, Lane>, relays: Relays, claimant: Claimant) {
    this.#deps = deps;
    this.#lanes = lanes;
    this.#relays = relays;
    this.#claimant = claimant;
  }

  /** Ends a wait: the loop looks whether it was told to stop. */
  wake(): void {
    this.#feed.wake();
  }

  /** Something happened to a lane that may mean work. */
  stir(lane: Lane): void {
    this.#enter(lane);
    this.#feed.wake();
  }

  /** There is more room than before: lanes that found none are asked again. */
  roomMade(): void {
    if (this.#stirred.size > 0) this.#feed.wake();
  }

  /** Something comes due in a lane (wall ms). */
  expect(lane: Lane, dueAt: number): void {
    if (!lane.expect(dueAt)) return;
    this.#enterDue(lane, dueAt);
    if (this.#due.next() === dueAt) this.#feed.wake();
  }

  /** A lane rests, and may try again then (monotonic ms). */
  rest(lane: Lane, until: number): void {
    this.#rests.add(until, lane);
    this.#feed.wake();
  }

  /** Asks until `stopping` aborts and it is woken. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const waitMs = await this.#round();
      await this.#feed.wait(this.#deps.clock, waitMs);
    }
  }

  /** A lane stands in the heap once: its due time is found there however often it is told. */
  #enterDue(lane: Lane, dueAt: number): void {
    if (lane.enteredDue !== null && lane.enteredDue <= dueAt) return;
    lane.enteredDue = dueAt;
    this.#due.add(dueAt, lane);
  }

  #takeDue(now: number): void {
    for (const lane of this.#due.take(now)) {
      if (lane.enteredDue === null || lane.enteredDue > now) continue;
      lane.enteredDue = null;
      if (this.#lanes.get(lane.name) !== lane) continue;
      if (lane.wantsWork(now)) this.#enter(lane);
      else if (lane.nextDueAt !== null) this.#enterDue(lane, lane.nextDueAt);
    }
  }

  #enter(lane: Lane): void {
    const relay = relayOfLane(lane.name);
    const others = this.#stirred.get(relay);
    if (others) others.add(lane);
    else this.#stirred.set(relay, new Set([lane]));
  }

  /** Asks for the lanes that were stirred. Returns how long to wait for the next round, in ms. */
  async #round(): Promise<number> {
    const { clock } = this.#deps;
    const wall = clock.wall();
    const mono = clock.mono();
    this.#takeDue(wall);
    for (const lane of this.#rests.take(mono)) this.#claimant.rested(lane);
    if (mono - this.#lastPollAt >= POLL_MS) this.#poll(mono);
    const wishes: Wish[] = [];
    for (const [name, lanes] of this.#stirred) {
      const relay = this.#relays.get(name);
      if (relay === undefined) this.#stirred.delete(name);
      else this.#wishesOf(relay, lanes, mono, wishes);
      if (lanes.size === 0) this.#stirred.delete(name);
    }
    if (wishes.length > 0 && !(await this.#claim(wishes, wall))) return POLL_MS;
    return this.#untilNext();
  }

  /** Shares what room a relay has among its lanes that were stirred. What finds none is asked when there is some. */
  #wishesOf(relay: RelayAtWork, lanes: Set<Lane>, mono: number, wishes: Wish[]): void {
    let room = this.#relays.claimRoom(relay);
    const share = Math.max(1, Math.ceil(room / lanes.size));
    for (const lane of lanes) {
      if (room < 1) return;
      lanes.delete(lane);
      // Whoever lets a lane go on, or gives it room, stirs it again.
      if (this.#lanes.get(lane.name) !== lane || this.#relays.ofLane(lane.name) !== relay) continue;
      const request = lane.claimRequest(limitsOf(relay, lane), Math.min(room, share), mono);
      if (request === null) continue;
      room -= request.limit;
      wishes.push({ lane, request });
    }
  }

  /** Whatever kept work from being asked for or begun (a hint that was lost, trust that lapsed), nothing waits for ever. */
  #poll(mono: number): void {
    this.#lastPollAt = mono;
    const most = Math.min(POLLED_AT_ONCE, this.#lanes.size);
    for (let count = 0; count < most; count++) {
      let turn = this.#polling?.next();
      if (turn === undefined || turn.done) {
        this.#polling = this.#lanes.values();
        turn = this.#polling.next();
      }
      if (turn.done) return;
      this.#claimant.pump(turn.value);
      // Whatever kept its hop from being asked (a hold, a relay that was replaced), it does not stay in doubt.
      if (turn.value.breakerState(mono) === 'half_open') this.#claimant.rested(turn.value);
      this.#enter(turn.value);
    }
  }

  /** Asks the store for work, and starts it. False: it could not be asked. */
  async #claim(wishes: readonly Wish[], now: number): Promise<boolean> {
    const { store, node, fault } = this.#deps;
    const requests = wishes.map(({ request }) => request);
    try {
      const answers = await store.claim(requests, { node, now });
      for (const [place, { lane, request }] of wishes.entries()) {
        const { units = [], nextDueAt = null } = answers[place] ?? {};
        for (const unit of units) lane.ready.push({ unit, content: null });
        this.#relays.took(lane, units.length);
        // Of the rest of the lane an answer about high priority alone says nothing.
        if (request.order !== 'high_only') {
          if (units.length >= request.limit) lane.filled();
          else if (nextDueAt !== null) this.expect(lane, nextDueAt);
        }
        this.#claimant.pump(lane);
        // Full hands: there may be more. It stands behind the others now.
        if (lane.waiting && request.order !== 'high_only') this.stir(lane);
      }
      return true;
    } catch (error) {
      for (const { lane } of wishes) {
        lane.waiting = true;
        if (isAmbiguous(error)) this.#claimant.retire(lane);
        else this.#enter(lane);
      }
      fault('claim_failed', error);
      return false;
    }
  }

  #untilNext(): number {
    const { clock } = this.#deps;
    const due = (this.#due.next() ?? Number.POSITIVE_INFINITY) - clock.wall();
    const rested = (this.#rests.next() ?? Number.POSITIVE_INFINITY) - clock.mono();
    return Math.max(0, Math.min(POLL_MS, due, rested));
  }
}
