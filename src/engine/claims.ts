import { relayOfLane } from '../domain/lane.ts';
import { type Clock, WakeUp } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';
import { ClaimRound, type Wish } from './claim-round.ts';
import type { Lane } from './lanes.ts';
import { isAmbiguous } from './persist.ts';
import type { RelayAtWork, Relays } from './relays.ts';
import type { Throttle } from './throttle.ts';

/** How often lanes are polled even if nothing hints at due work, in ms. */
const POLL_MS = 500;
/** Lanes polled at a time, in turn: the more lanes there are, the less often each is polled. */
const POLLED_AT_ONCE = 128;
/** Lanes of one group asked for high priority in one round. */
const ASKED_FOR_HIGH = 256;
/** Minimum interval between two such rounds, in ms. */
const HIGH_MS = 100;

/** What claiming needs. */
export interface ClaimsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly node: string;
  readonly fault: (code: string, error: unknown) => void;
}

/** Works on what is claimed. */
export interface Claimant {
  /** Starts what a lane has in hand, as far as its limits allow. */
  pump(lane: Lane): void;
  /** A lane whose hop was unhealthy may try again. */
  rested(lane: Lane): void;
  /** Starts nothing more on a lane whose leases are uncertain. */
  retire(lane: Lane): void;
}

/** Lanes of one relay that share their throttles; the lane that was asked longest ago comes first. */
interface Stirred {
  readonly relay: string;
  readonly throttles: readonly Throttle[];
  readonly lanes: Set<Lane>;
  /** Lanes that may have high-priority work. */
  readonly forHigh: Set<Lane>;
  /** Monotonic ms. */
  askedForHighAt: number;
}

/**
 * CLAIM: asks the store for due work of the lanes that have room. The cost depends on the lanes that something happened
 * to, not on how many there are.
 */
export class Claims {
  readonly #deps: ClaimsDeps;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #relays: Relays;
  readonly #claimant: Claimant;
  readonly #feed = new WakeUp();
  /** Lanes that may have work to claim. */
  readonly #stirred = new Map<Throttle, Stirred>();
  /** When work comes due (wall ms), and when a rest ends (monotonic ms). */
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

  /** Ends a wait, so that the loop checks whether to stop. */
  wake(): void {
    this.#feed.wake();
  }

  /** Something happened to a lane that may mean work. */
  stir(lane: Lane): void {
    this.#enter(lane);
    this.#feed.wake();
  }

  /** There is more room than before: ask the lanes that found none again. */
  roomMade(): void {
    if (this.#stirred.size > 0) this.#feed.wake();
  }

  /** Work in a lane comes due (wall ms). */
  expect(lane: Lane, dueAt: number): void {
    if (!lane.expect(dueAt)) return;
    this.#enterDue(lane, dueAt);
    if (this.#due.next() === dueAt) this.#feed.wake();
  }

  /** A lane rests until then (monotonic ms). */
  rest(lane: Lane, until: number): void {
    this.#rests.add(until, lane);
    this.#feed.wake();
  }

  /** Claims until `stopping` aborts and `wake` is called. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const waitMs = await this.#round();
      await this.#feed.wait(this.#deps.clock, waitMs);
    }
  }

  /** A lane is in the heap only once, however often its due time is announced. */
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

  /** Asks nothing for a missing relay: when it comes back, all of its lanes are stirred. */
  #enter(lane: Lane): void {
    const relay = this.#relays.get(relayOfLane(lane.name));
    const throttles = relay?.throttlesOf(lane) ?? [];
    const narrowest = throttles.at(-1);
    if (relay === undefined || narrowest === undefined) return;
    let stirred = this.#stirred.get(narrowest);
    if (stirred === undefined) {
      stirred = {
        relay: relay.relay.name,
        throttles,
        lanes: new Set(),
        forHigh: new Set(),
        askedForHighAt: Number.NEGATIVE_INFINITY,
      };
      this.#stirred.set(narrowest, stirred);
    }
    stirred.lanes.add(lane);
    stirred.forHigh.add(lane);
  }

  /** Claims for the stirred lanes. Returns how long to wait before the next round, in ms. */
  async #round(): Promise<number> {
    const { clock } = this.#deps;
    const wall = clock.wall();
    const mono = clock.mono();
    this.#takeDue(wall);
    // A lane object that was let go or lost is not ours to ask: its current holder asks, which may be us with a new
    // object.
    for (const lane of this.#rests.take(mono))
      if (this.#lanes.get(lane.name) === lane) this.#claimant.rested(lane);
    if (mono - this.#lastPollAt >= POLL_MS) this.#poll(mono);
    const wishes = this.#wishes(mono);
    if (wishes.length > 0 && !(await this.#claim(wishes, wall))) return POLL_MS;
    return this.#untilNext();
  }

  #wishes(mono: number): Wish[] {
    const round = new ClaimRound(mono);
    for (const [throttle, stirred] of this.#stirred) {
      const relay = this.#relays.get(stirred.relay);
      if (relay === undefined) this.#stirred.delete(throttle);
      else {
        this.#wishesOf(relay, stirred, round);
        this.#wishesForHigh(relay, stirred, round);
      }
      if (stirred.lanes.size === 0) this.#stirred.delete(throttle);
    }
    return round.wishes;
  }

  /** Shares the available room among the stirred lanes. A lane that finds none is asked when there is some. */
  #wishesOf(relay: RelayAtWork, { throttles, lanes, forHigh }: Stirred, round: ClaimRound): void {
    let room = round.roomOf(relay, throttles);
    const share = Math.max(1, Math.ceil(room / lanes.size));
    for (const lane of lanes) {
      if (room < 1) return;
      lanes.delete(lane);
      forHigh.delete(lane);
      if (relay.throttlesOf(lane).length !== throttles.length) {
        // The provider of its hop was identified meanwhile.
        this.#enter(lane);
        continue;
      }
      if (!this.#isToBeAsked(lane, relay)) continue;
      const request = lane.claimRequest(round.limitsOf(relay, lane), Math.min(room, share), round.mono);
      if (request === null) continue;
      room -= request.limit;
      round.ask(lane, request, relay, throttles);
    }
  }

  /** Asks for high priority even while other mail uses up the room. */
  #wishesForHigh(relay: RelayAtWork, stirred: Stirred, round: ClaimRound): void {
    if (round.mono - stirred.askedForHighAt < HIGH_MS) return;
    stirred.askedForHighAt = round.mono;
    const { throttles, forHigh } = stirred;
    let asks = Math.min(forHigh.size, ASKED_FOR_HIGH);
    for (const lane of forHigh) {
      if (asks-- <= 0 || !round.hasRoomForHigh(throttles)) return;
      forHigh.delete(lane);
      if (!this.#isToBeAsked(lane, relay)) continue;
      const request = lane.requestForHigh(round.limitsOf(relay, lane), round.mono);
      if (request !== null) round.askForHigh(lane, request);
      // It was asked a moment ago: new work waits for its next turn.
      else if (lane.waiting) forHigh.add(lane);
    }
  }

  /** Anything that lets a lane continue, or makes room for it, stirs it again. */
  #isToBeAsked(lane: Lane, relay: RelayAtWork): boolean {
    return this.#lanes.get(lane.name) === lane && this.#relays.ofLane(lane.name) === relay;
  }

  /** Nothing waits forever, whatever kept work from being claimed or started (a lost hint, a lapsed lease). */
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
      // The same for a hop that was never probed (because of a hold, or a replaced relay): it does not stay half-open.
      if (turn.value.breakerState(mono) === 'half_open') this.#claimant.rested(turn.value);
      this.#enter(turn.value);
    }
  }

  /** Claims work from the store, and starts it. False if the store could not be asked. */
  async #claim(wishes: readonly Wish[], now: number): Promise<boolean> {
    const { store, node, fault } = this.#deps;
    const requests = wishes.map(({ request }) => request);
    try {
      const answers = await store.claim(requests, { node, now });
      for (const [place, { lane, request }] of wishes.entries()) {
        const { units = [], nextDueAt = null } = answers[place] ?? {};
        for (const unit of units) lane.ready.push({ unit, content: null });
        this.#relays.took(lane, units.length);
        // A claim of high priority alone says nothing about the rest of the lane.
        if (request.order !== 'high_only') {
          if (units.length >= request.limit) lane.filled();
          else if (nextDueAt !== null) this.expect(lane, nextDueAt);
        }
        this.#claimant.pump(lane);
        // The claim was filled, so there may be more. The lane queues behind the others now.
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

/** Due times of items, as a heap: ten thousand items cost no more than the few that are due. */
export class DueTimes<T> {
  readonly #heap: { readonly at: number; readonly item: T }[] = [];

  /** The item comes due at `at`. It may be added again: each of its times counts. */
  add(at: number, item: T): void {
    const heap = this.#heap;
    let place = heap.push({ at, item }) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#atOf(parent) <= at) break;
      this.#swap(place, parent);
      place = parent;
    }
  }

  /** The earliest time; null if there is none. */
  next(): number | null {
    return this.#heap[0]?.at ?? null;
  }

  /** Takes the items due by `now`, earliest first. */
  take(now: number): T[] {
    const due: T[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      due.push(first.item);
      this.#removeFirst();
    }
    return due;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let place = 0; ; ) {
      const left = 2 * place + 1;
      const child = this.#atOf(left + 1) < this.#atOf(left) ? left + 1 : left;
      if (this.#atOf(child) >= this.#atOf(place)) return;
      this.#swap(place, child);
      place = child;
    }
  }

  #atOf(place: number): number {
    return this.#heap[place]?.at ?? Number.POSITIVE_INFINITY;
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}
