import { lookup } from 'node:dns/promises';
import { connect, isIP, isIPv6, type Socket } from 'node:net';
import type { OriginSettings } from '../../domain/relay.ts';
import type { Clock } from '../../lib/clock.ts';
import { LINK_LOCAL } from '../../lib/network.ts';
import { Deadline } from './deadline.ts';
import { connectFailure, HopFailure, timeoutReply } from './failure.ts';
import type { Trace } from './trace.ts';

/**
 * How long one address may take before the next is tried (RFC 8305). Node gives up on the slow one then, so this is
 * more than the RFC's 250 ms; the last address has the whole time.
 */
const NEXT_ADDRESS_AFTER_MS = 1000;

/** Where to connect, and from where. */
export interface DialTarget {
  /** Name or address, for texts. */
  readonly host: string;
  /** The address; null: the system's resolver decides for `host`. */
  readonly address: string | null;
  readonly port: number;
  readonly sources: SourceAddresses;
  /** Never connects to a link-local address, whatever the name resolves to. */
  readonly noLinkLocal?: true | undefined;
}

/** Asks the system's resolver for all addresses of a name in one family. Rejects as `dns.lookup` does. */
export type LookUp = (host: string, family: Family) => Promise<readonly string[]>;

/** One address to try, or a name for which the system chooses one. */
interface Try {
  readonly address: string;
  /** Null: whichever the system chooses. */
  readonly family: Family | null;
}

const lookUpAll: LookUp = async (host, family) =>
  (await lookup(host, { family, all: true })).map(({ address }) => address);

/**
 * Connects to a host: to its address if known, otherwise to the first resolved address that answers. Ends with
 * `signal`, whose reason is thrown; other failures are `HopFailure`.
 */
export async function dial(
  target: DialTarget,
  clock: Clock,
  trace: Trace,
  signal: AbortSignal,
  lookUp = lookUpAll,
): Promise<Socket> {
  const tries = await triesOf(target, clock, trace, signal, lookUp);
  let failure: HopFailure | null = null;
  for (const [place, one] of tries.entries()) {
    signal.throwIfAborted();
    const isLast = place === tries.length - 1;
    const result = await dialOne(one, isLast ? null : NEXT_ADDRESS_AFTER_MS, target, clock, trace, signal);
    if (!(result instanceof Error)) return result;
    failure = result;
  }
  throw failure ?? connectFailure(new Error('no address'), target.host, target.port);
}

/** The addresses to try in turn. Node iterates over a name's addresses itself only if it may choose the family. */
async function triesOf(
  { host, address, port, sources }: DialTarget,
  clock: Clock,
  trace: Trace,
  signal: AbortSignal,
  lookUp: LookUp,
): Promise<readonly Try[]> {
  const where = address ?? host;
  const literal = isIP(where);
  if (literal === 4 || literal === 6) return [{ address: where, family: literal }];
  const startedAt = clock.mono();
  const tries: Try[] = [];
  let failure: unknown = null;
  for (const family of sources.plan()) {
    if (family === null) return [{ address: where, family }];
    signal.throwIfAborted();
    try {
      const found = await unlessAborted(lookUp(where, family), signal);
      tries.push(...found.map((one) => ({ address: one, family })));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      failure = error;
    }
  }
  trace.dnsMs = Math.round(clock.mono() - startedAt);
  if (tries.length === 0) throw connectFailure(failure, host, port);
  return tries;
}

/** The system's resolver cannot be stopped; its result is ignored then. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Returns the failure, or one after `limitMs`, so that the next can be tried; null: no limit. Rejects when stopped. */
function dialOne(
  { address, family }: Try,
  limitMs: number | null,
  { host, port, sources, noLinkLocal }: DialTarget,
  clock: Clock,
  trace: Trace,
  signal: AbortSignal,
): Promise<Socket | HopFailure> {
  return new Promise((resolve, reject) => {
    const startedAt = clock.mono();
    let resolvedAt = startedAt;
    const localAddress = family === null ? null : sources.next(family);
    const socket = connect({
      host: address,
      port,
      noDelay: true,
      ...(family === null ? {} : { family }),
      ...(localAddress === null ? {} : { localAddress }),
      ...(noLinkLocal && { blockList: LINK_LOCAL }),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
    const limit = new Deadline(clock, () => {
      discard();
      resolve(new HopFailure(timeoutReply('connect', host, NEXT_ADDRESS_AFTER_MS)));
    });
    if (limitMs !== null) limit.set(limitMs);
    const finish = () => {
      limit.stop();
      socket.removeAllListeners();
      signal.removeEventListener('abort', onAbort);
    };
    const discard = () => {
      finish();
      // A socket being destroyed may still report an error.
      socket.on('error', () => {});
      socket.destroy();
    };
    const onAbort = () => {
      discard();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort);
    socket.once('lookup', () => {
      resolvedAt = clock.mono();
      trace.dnsMs = Math.round(resolvedAt - startedAt);
    });
    socket.once('error', (error) => {
      discard();
      resolve(connectFailure(error, host, port));
    });
    socket.once('connect', () => {
      finish();
      trace.connectMs = Math.round(clock.mono() - resolvedAt);
      trace.address = socket.remoteAddress ?? null;
      trace.localAddress = socket.localAddress ?? null;
      trace.happened('CONNECT', `${trace.address}:${port}`);
      resolve(socket);
    });
  });
}

/** An IP version, as Node.js counts them. */
export type Family = 4 | 6;

/** Our source addresses for a relay's connections, used in turn. */
export class SourceAddresses {
  readonly #ips: Readonly<Record<Family, readonly string[]>>;
  readonly #families: readonly Family[];
  readonly #turns: Record<Family, number> = { 4: 0, 6: 0 };
  #plans = 0;

  constructor({ sourceIps, ipFamily }: Pick<OriginSettings, 'sourceIps' | 'ipFamily'>) {
    this.#ips = { 4: sourceIps.filter((ip) => !isIPv6(ip)), 6: sourceIps.filter(isIPv6) };
    const wanted: readonly Family[] = ipFamily === 'any' ? [6, 4] : ipFamily === 'ipv6' ? [6] : [4];
    // If addresses are configured, a family without one is not used: nobody expects mail from there.
    this.#families = wanted.filter((family) => sourceIps.length === 0 || this.#ips[family].length > 0);
  }

  /** The families to connect over. */
  get family(): OriginSettings['ipFamily'] {
    if (this.#families.length > 1) return 'any';
    return this.#families[0] === 6 ? 'ipv6' : 'ipv4';
  }

  /** The next source address of a family; null leaves it to the system. */
  next(family: Family): string | null {
    const ips = this.#ips[family];
    return ips.length === 0 ? null : (ips[this.#turns[family]++ % ips.length] ?? null);
  }

  /** The families to try for a name, in this order, taking turns at the front; null lets the system choose. */
  plan(): readonly (Family | null)[] {
    if (this.#families.length === 1) return this.#families;
    if (this.#families.every((family) => this.#ips[family].length === 0)) return [null];
    return this.#plans++ % 2 === 0 ? this.#families : this.#families.toReversed();
  }
}
