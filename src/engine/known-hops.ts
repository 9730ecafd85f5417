import { type Breaker, CLOSED } from '../domain/breaker.ts';
import { relayOfLane } from '../domain/lane.ts';
import { type MailboxProvider, mailboxProviderOf } from '../domain/mailbox-provider.ts';
import type { Reply } from '../domain/outcome.ts';
import type { Relay } from '../domain/relay.ts';
import { openWindow, type Window } from '../domain/window.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Lane } from './lanes.ts';

/** Attempts at once that a lane of a relay with many destinations begins with, until its hop has shown to bear more. */
const INITIAL_CONCURRENCY = 5;
/** So many lanes are remembered after they were let go. */
const MAX_REMEMBERED = 20_000;

/** What is known of a lane's hop. */
interface Known {
  readonly window: Window | null;
  readonly provider: MailboxProvider | null;
  readonly breaker: Breaker;
  readonly restReply: Reply | null;
}

/** A relay, as knowing its hops needs it. */
interface RelayOfHops {
  readonly relay: Pick<Relay, 'mx'>;
  perLaneOf(lane: Lane): number;
}

/** The relays, as knowing hops needs them. */
export interface RelaysOfHops {
  get(name: string): RelayOfHops | undefined;
  provided(lane: Lane, provider: MailboxProvider | null): void;
}

/** Whose the hops of lanes are, and which pace does well with them; also while nobody holds the lane. */
export class KnownHops {
  readonly #relays: RelaysOfHops;
  /** Of lanes that were let go, the last so many. */
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
    if (relay === undefined || relay.relay.mx === null) return;
    const { presets } = relay.relay.mx;
    this.#relays.provided(
      lane,
      presets ? (known?.provider ?? mailboxProviderOf(domainOf(lane), null)) : null,
    );
    // Whose it is, one attempt tells: until then it must not be more than one of that provider's may be.
    const begin = lane.provider?.initialConcurrency ?? (presets ? 1 : INITIAL_CONCURRENCY);
    lane.window ??= openWindow(Math.min(begin, relay.perLaneOf(lane)));
  }

  /** A host was spoken to for a lane: where it is a big mailbox provider's, the lane shares that one's pace from now on. */
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

  /** A lane is let go: what is known of its hop is remembered for when there is mail for it again. */
  remember({ name, window, provider, breaker, restReply }: Lane): void {
    this.#remembered.delete(name);
    if (window === null && provider === null && breaker.failures === 0) return;
    this.#remembered.set(name, { window, provider, breaker, restReply });
  }

  /** What was known of a lane's hop is worth nothing any more. */
  forget(lane: Lane): void {
    this.#remembered.delete(lane.name);
    lane.forgetHop();
    this.introduce(lane);
  }
}

/** The recipients' domain, of a lane of a relay with many destinations. */
function domainOf({ name }: Lane): string {
  return name.slice(name.indexOf('/') + 1);
}
