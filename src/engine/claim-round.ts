import type { ClaimRequest } from '../store/store.ts';
import type { Lane, LaneLimits } from './lanes.ts';
import type { RelayAtWork } from './relays.ts';
import type { Throttle } from './throttle.ts';

/** A lane and what it would like to claim. */
export interface Wish {
  readonly lane: Lane;
  readonly request: ClaimRequest;
}

/** What is left of a relay's quota, in recipients: for any mail, and for mail of high priority. */
interface QuotaLeft {
  left: number;
  leftForHigh: number;
}

/** One round of claims, and the room that they leave. */
export class ClaimRound {
  /** Monotonic ms. */
  readonly mono: number;
  readonly wishes: Wish[] = [];
  readonly #asked = new Map<Throttle, number>();
  /** What is left of each relay's quota. */
  readonly #left = new Map<RelayAtWork, QuotaLeft>();

  constructor(mono: number) {
    this.mono = mono;
  }

  /** How many more units may be claimed, of any priority. */
  roomOf({ soleLane }: RelayAtWork, throttles: readonly Throttle[]): number {
    // The lane's limits are the relay's.
    if (soleLane) return Number.MAX_SAFE_INTEGER;
    return Math.min(...throttles.map((throttle) => throttle.claimRoom - this.#askedOf(throttle)));
  }

  /** Whether a lane may be asked for high priority alone. Most lanes have none, so asking takes no room from others. */
  hasRoomForHigh(throttles: readonly Throttle[]): boolean {
    return throttles.every((throttle) => throttle.claimRoomForHigh > 0);
  }

  /** What the relay allows that lane. */
  limitsOf(relay: RelayAtWork, lane: Lane): LaneLimits {
    const { maxRecipients, takesWhole, soleLane } = relay;
    const perLane = relay.perLaneOf(lane);
    const { left, leftForHigh } = this.#leftOf(relay);
    return { perLane, maxRecipients, takesWhole, left, leftForHigh, soleLane };
  }

  /** Asks for one high-priority unit, which takes no room from the rest. */
  askForHigh(lane: Lane, request: ClaimRequest): void {
    this.wishes.push({ lane, request: { ...request, limit: 1 } });
  }

  /** Adds a lane's request. */
  ask(lane: Lane, request: ClaimRequest, relay: RelayAtWork, throttles: readonly Throttle[]): void {
    this.wishes.push({ lane, request });
    for (const throttle of throttles) this.#asked.set(throttle, this.#askedOf(throttle) + request.limit);
    const quota = this.#leftOf(relay);
    quota.left -= request.limit;
    quota.leftForHigh -= request.limit;
  }

  #askedOf(throttle: Throttle): number {
    return this.#asked.get(throttle) ?? 0;
  }

  #leftOf(relay: RelayAtWork): QuotaLeft {
    let left = this.#left.get(relay);
    if (left === undefined) {
      left = { left: relay.left, leftForHigh: relay.leftForHigh };
      this.#left.set(relay, left);
    }
    return left;
  }
}
