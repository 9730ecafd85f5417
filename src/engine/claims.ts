import type { Clock } from '../lib/clock.ts';
import { WakeUp } from '../lib/wakeup.ts';
import type { ClaimRequest, Store } from '../store/store.ts';
import type { Lane } from './lanes.ts';
import { isAmbiguous } from './persist.ts';
import type { Relays } from './relays.ts';

/** How often a held lane is asked for work even when nothing hints at any, in ms. */
const POLL_MS = 1_000;

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
  /** Starts nothing more on a lane whose leases we cannot be sure to know. */
  retire(lane: Lane): void;
}

/** A lane, and what it would like to claim. */
interface Wish {
  readonly lane: Lane;
  readonly request: ClaimRequest;
}

/** CLAIM: asks the store for due work of the lanes that have room. */
export class Claims {
  readonly #deps: ClaimsDeps;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #relays: Relays;
  readonly #claimant: Claimant;
  readonly #feed = new WakeUp();
  #lastPollAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ClaimsDeps, lanes: ReadonlyMap<string, Lane>, relays: Relays, claimant: Claimant) {
    this.#deps = deps;
    this.#lanes = lanes;
    this.#relays = relays;
    this.#claimant = claimant;
  }

  /** Something changed that may mean work. */
  wake(): void {
    this.#feed.wake();
  }

  /** Asks until `stopping` aborts and it is woken. Resolves when stopped. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const waitMs = await this.#round();
      await this.#feed.wait(this.#deps.clock, waitMs);
    }
  }

  /** One look at every lane. Returns how long to wait for the next, in ms. */
  async #round(): Promise<number> {
    const wall = this.#deps.clock.wall();
    const mono = this.#deps.clock.mono();
    const polling = mono - this.#lastPollAt >= POLL_MS;
    if (polling) this.#lastPollAt = mono;
    const wishes: Wish[] = [];
    for (const lane of this.#lanes.values()) {
      // Whatever kept work in hand from starting (trust that lapsed and came back), nothing waits for ever.
      if (polling) this.#claimant.pump(lane);
      const relay = this.#relays.ofLane(lane.name);
      const request = relay ? lane.claimRequest(relay.relay.limits, wall, mono, polling) : null;
      if (request) wishes.push({ lane, request });
    }
    if (wishes.length === 0 || (await this.#claim(wishes, wall))) return this.#untilNext();
    return POLL_MS;
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
        if (units.length >= request.limit) lane.waiting = true;
        if (nextDueAt !== null) lane.expect(nextDueAt);
        this.#claimant.pump(lane);
      }
      return true;
    } catch (error) {
      for (const { lane } of wishes) {
        lane.waiting = true;
        if (isAmbiguous(error)) this.#claimant.retire(lane);
      }
      fault('claim_failed', error);
      return false;
    }
  }

  #untilNext(): number {
    const wall = this.#deps.clock.wall();
    const mono = this.#deps.clock.mono();
    let wait = POLL_MS;
    for (const lane of this.#lanes.values()) {
      const paused = lane.pausedUntil(mono);
      if (paused !== null) wait = Math.min(wait, paused - mono);
      else if (lane.nextDueAt !== null && lane.nextDueAt > wall) wait = Math.min(wait, lane.nextDueAt - wall);
    }
    return wait;
  }
}
