import { relayOfLane } from '../domain/lane.ts';
import type { Relay } from '../domain/relay.ts';
import type { Transport } from '../transport/transport.ts';
import type { Lane } from './lanes.ts';

/** A relay at work: its transport, how much of it is in use, and the lanes that wait for a slot of it. */
export class RelayAtWork {
  readonly relay: Relay;
  readonly transport: Transport;
  /** Attempts under way over all lanes. */
  inflight = 0;
  /** Lanes with work in hand that found no slot. In order of asking: each gets its turn. */
  readonly hungry = new Set<Lane>();
  /** Until when (monotonic ms) the next hop is left alone after it was found ill; null while it is well. */
  restsUntil: number | null = null;
  /** A timer will feed the hungry when the rate allows. */
  timed = false;
  #nextStartAt = Number.NEGATIVE_INFINITY;

  constructor(relay: Relay, transport: Transport) {
    this.relay = relay;
    this.transport = transport;
  }

  /** Whether an attempt may start now (monotonic ms). */
  hasRoom(now: number): boolean {
    return this.inflight < this.relay.limits.maxConcurrency && this.waitMs(now) === 0;
  }

  /** Milliseconds until the relay's rate lets the next attempt start. */
  waitMs(now: number): number {
    return Math.max(0, this.#nextStartAt - now);
  }

  /** Takes a slot. */
  begin(now: number): void {
    this.inflight++;
    const rate = this.relay.limits.maxRatePerSecond;
    if (rate > 0) this.#nextStartAt = Math.max(this.#nextStartAt, now) + 1000 / rate;
  }

  /** Gives the slot back. */
  end(): void {
    this.inflight--;
  }
}

/** The relays there are. Changed live: what is under way with a replaced one ends with it. */
export class Relays {
  readonly #byName = new Map<string, RelayAtWork>();

  /** Adds or replaces a relay; the old transport closes once its work is done. */
  put(relay: Relay, transport: Transport): void {
    const old = this.#byName.get(relay.name);
    this.#byName.set(relay.name, new RelayAtWork(relay, transport));
    if (old) void old.transport.close();
  }

  /** Removes a relay. Mail that waits for it is rerouted by the sweep. */
  remove(name: string): void {
    const old = this.#byName.get(name);
    this.#byName.delete(name);
    if (old) void old.transport.close();
  }

  /** The relay of that name. */
  get(name: string): RelayAtWork | undefined {
    return this.#byName.get(name);
  }

  /** The relay a lane leads to, unless it is gone or disabled. */
  ofLane(lane: string): RelayAtWork | undefined {
    const found = this.#byName.get(relayOfLane(lane));
    return found?.relay.disabled ? undefined : found;
  }

  /** All of them. */
  all(): Iterable<RelayAtWork> {
    return this.#byName.values();
  }

  /** Closes every transport. */
  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((relay) => relay.transport.close()));
  }
}
