import type { Clock } from '../../lib/clock.ts';
import type { Endpoint } from '../../lib/network.ts';

/** A server that did not answer is asked after the others for so long. */
const AVOID_MS = 30_000;
/** More servers than anybody has; with more, what is known of them begins anew. */
const MAX_REMEMBERED = 100;

/** Remembers which servers did not answer, so that a dead one costs one time-out and not one for each question. */
export class ServerOrder {
  readonly #clock: Clock;
  readonly #avoidedUntil = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The given ones, in their order, but those that lately did not answer last. */
  sort(servers: readonly Endpoint[]): Endpoint[] {
    const isAvoided = (server: Endpoint) => (this.#avoidedUntil.get(keyOf(server)) ?? 0) > this.#clock.mono();
    return [...servers.filter((server) => !isAvoided(server)), ...servers.filter(isAvoided)];
  }

  /** A server answered, or did not. */
  note(server: Endpoint, answered: boolean): void {
    this.#avoidedUntil.delete(keyOf(server));
    if (answered) return;
    if (this.#avoidedUntil.size >= MAX_REMEMBERED) this.#avoidedUntil.clear();
    this.#avoidedUntil.set(keyOf(server), this.#clock.mono() + AVOID_MS);
  }
}

function keyOf({ address, port }: Endpoint): string {
  return `${address} ${port}`;
}
