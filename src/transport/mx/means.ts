import type { MtaStsPolicies } from '../../dns/mta-sts.ts';
import type { MxSettings, Relay } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import { NewestMap } from '../../lib/newest-map.ts';
import type { Random } from '../../lib/random.ts';
import { TIMEOUTS, type Timeouts } from '../smtp/deadline.ts';
import { SourceAddresses } from '../smtp/dial.ts';
import type { Way } from '../smtp/exchange.ts';
import { HostFinder, type ReadyHost } from './hosts.ts';
import { type TlsWatch, UNWATCHED_TLS } from './sessions.ts';

/** What {@link MxMeans} are made from. */
export interface MxParts {
  /** Of type `mx`. */
  readonly relay: Relay;
  /** Our EHLO name, unless the relay sets its own. */
  readonly hostname: string;
  readonly policies: MtaStsPolicies;
  /** Whether connecting to an address and port would reach this very server. */
  readonly isOwn: (address: string, port: number) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  /** Is told of sessions, for TLS reports. */
  readonly watch?: TlsWatch;
  /** Override {@link TIMEOUTS}. */
  readonly timeouts?: Partial<Timeouts>;
}

/** How an `mx` relay finds hosts and connects to them. */
export interface MxMeans {
  readonly settings: MxSettings;
  readonly finder: HostFinder;
  readonly terms: Way['terms'];
  readonly unreachable: Unreachable;
  readonly watch: TlsWatch;
}

/** The means of a relay. */
export function mxMeans(parts: MxParts): MxMeans {
  const { relay, hostname, clock } = parts;
  if (!relay.mx) throw new Error(`relay ${relay.name} is not of type mx`);
  const settings = relay.mx;
  const sources = new SourceAddresses(settings);
  const helo = settings.helo ?? hostname;
  const ownNames = [...new Set([hostname.toLowerCase(), helo.toLowerCase()])];
  const finder = new HostFinder({ ...parts, settings, sources, ownNames });
  const terms = { helo, sources, clock, timeouts: { ...TIMEOUTS, ...parts.timeouts } };
  const { watch = UNWATCHED_TLS } = parts;
  return { settings, finder, terms, unreachable: new Unreachable(clock), watch };
}

/** For this long, an unreachable address is tried after all others. */
const REMEMBERED_MS = 60_000;
/** Addresses remembered; the oldest make room. */
const MAX_ADDRESSES = 1000;

/** Recently unreachable addresses. Otherwise a host that is down would cost every message the time to find that out. */
export class Unreachable {
  readonly #clock: Clock;
  /** Until when (monotonic ms), the latest noted last. */
  readonly #until = new NewestMap<string, number>(MAX_ADDRESSES);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#until.size;
  }

  /** Records that a connection just failed. */
  note(address: string): void {
    this.#until.set(address, this.#clock.mono() + REMEMBERED_MS);
  }

  /** Whether to try it after all others. */
  has(address: string): boolean {
    const until = this.#until.get(address);
    if (until === undefined) return false;
    if (this.#clock.mono() < until) return true;
    this.#until.delete(address);
    return false;
  }
}

/** How long an address may take to answer while its host has another (RFC 8305: some networks' IPv6 leads nowhere). */
const NEXT_ADDRESS_AFTER_MS = 5000;

/**
 * The ways to a host, in the order in which they are tried. Two domains with the same host share connections if both
 * require the same of them. `giveUp` stops opening connections.
 */
export function waysTo(
  { name, addresses, security }: ReadyHost,
  { settings, terms }: Pick<MxMeans, 'settings' | 'terms'>,
  giveUp?: AbortSignal,
): Way[] {
  const { port } = settings;
  return addresses.map((address, index) => {
    const destination = { host: name, address, port, ...security.way, credentials: null };
    const { connect } = terms.timeouts;
    const isLast = index === addresses.length - 1;
    const timeouts = isLast
      ? terms.timeouts
      : { ...terms.timeouts, connect: Math.min(connect, NEXT_ADDRESS_AFTER_MS) };
    return {
      key: JSON.stringify([name, address, security.way]),
      destination,
      terms: { ...terms, timeouts },
      ...(giveUp ? { giveUp } : {}),
    };
  });
}
