import { type Breaker, CLOSED } from '../domain/breaker.ts';
import { relayOfLane } from '../domain/lane.ts';
import { type MailboxProvider, mailboxProviderOf } from '../domain/mailbox-provider.ts';
import type { Relay } from '../domain/relay.ts';
import { openWindow, type Window } from '../domain/window.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Lane } from './lanes.ts';

/**
 * Attempts at once that a lane of a relay with many destinations starts with, until its hop has proved to sustain more.
 */
const INITIAL_CONCURRENCY = 5;
/** Lanes remembered after they were released. */
const MAX_REMEMBERED = 20_000;

/** What is known of a lane's hop. */
interface Known {
  readonly window: Window | null;
  readonly provider: MailboxProvider | null;
  readonly breaker: Breaker;
  readonly restReply: Lane['restReply'];
  readonly illSince: number | null;
}

/** The fields of a relay that are used here. */
interface RelayOfHops {
  readonly relay: Pick<Relay, 'mx'>;
  perLaneOf(lane: Lane): number;
}

/** The parts of `Relays` that are used here. */
export interface RelaysOfHops {
  get(name: string): RelayOfHops | undefined;
  provided(lane: Lane, provider: MailboxProvider | null): void;
}

/** The providers of the lanes' hops and the concurrency that works with them, also while nobody holds the lane. */
export class KnownHops {
  readonly #relays: RelaysOfHops;
  /** The lanes released most recently. */
  readonly #remembered = new NewestMap<string, Known>(MAX_REMEMBERED);

  constructor(relays: RelaysOfHops) {
    this.#relays = relays;
  }

  /** A lane is held from now on. */
  introduce(lane: Lane): void {
    const relay = this.#relays.get(relayOfLane(lane.name));
    const known = this.#remembered.get(lane.name);
    lane.window = known?.window ?? null;
    lane.breaker = known?.breaker ?? CLOSED;
    lane.restReply = known?.restReply ?? null;
    lane.illSince = known?.illSince ?? null;
    if (relay === undefined || relay.relay.mx === null) return;
    const { presets } = relay.relay.mx;
    this.#relays.provided(
      lane,
      presets ? (known?.provider ?? mailboxProviderOf(domainOf(lane), null)) : null,
    );
    // One attempt identifies the provider; until then the lane must not exceed what a provider's lane starts with.
    const begin = lane.provider?.initialConcurrency ?? (presets ? 1 : INITIAL_CONCURRENCY);
    lane.window ??= openWindow(Math.min(begin, relay.perLaneOf(lane)));
  }

  /**
   * A lane connected to a host. If the host is a big mailbox provider's, the lane shares that provider's limits from
   * now on.
   */
  spokeTo(lane: Lane, relay: RelayOfHops, host: string | null): void {
    if (lane.provider !== null || lane.isKnown || host === null || relay.relay.mx?.presets !== true) return;
    lane.isKnown = true;
    const provider = mailboxProviderOf(domainOf(lane), host);
    if (provider !== null) this.#relays.provided(lane, provider);
    const begin = Math.min(provider?.initialConcurrency ?? INITIAL_CONCURRENCY, relay.perLaneOf(lane));
    const { window } = lane;
    if (window !== null && window.halvedAt === Number.NEGATIVE_INFINITY && window.size < begin)
      lane.window = openWindow(begin);
  }

  /** A lane is released: what is known of its hop is remembered for the next mail to it. */
  remember({ name, window, provider, breaker, restReply, illSince }: Lane): void {
    this.#remembered.delete(name);
    if (window === null && provider === null && breaker.failures === 0) return;
    this.#remembered.set(name, { window, provider, breaker, restReply, illSince });
  }

  /** Forgets what was known of a lane's hop. */
  forget(lane: Lane): void {
    this.#remembered.delete(lane.name);
    lane.forgetHop();
    this.introduce(lane);
  }
}

/** The recipients' domain of a lane, if its relay has many destinations. */
function domainOf({ name }: Lane): string {
  return name.slice(name.indexOf('/') + 1);
}
