import { connect, isIP, type Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { LINK_LOCAL } from '../../lib/link-local.ts';
import { connectFailure, type HopFailure } from './failure.ts';
import type { Family, SourceAddresses } from './source-addresses.ts';
import type { Trace } from './trace.ts';

/**
 * How long one address may take before the next is tried (RFC 8305). Node gives up the slow one then, so this is
 * more than the RFC's 250 ms; the last address has all the time there is.
 */
const NEXT_ADDRESS_AFTER_MS = 1000;

/** Where to, and from where. */
export interface DialTarget {
  /** Name or address, for texts. */
  readonly host: string;
  /** To connect to; null: whatever the system's resolver says of `host`. */
  readonly address: string | null;
  readonly port: number;
  readonly sources: SourceAddresses;
  /** Connects to no link-local address, whatever the name resolves to. */
  readonly noLinkLocal?: true | undefined;
}

/**
 * Connects to a host: to its address, where that is known, else to the first of those its name resolves to that
 * answers. Ends with `signal`, whose reason is thrown; other troubles are `HopFailure`.
 */
export async function dial(
  target: DialTarget,
  clock: Clock,
  trace: Trace,
  signal: AbortSignal,
): Promise<Socket> {
  const literal = isIP(target.address ?? target.host);
  const families: readonly (Family | null)[] =
    literal === 4 || literal === 6 ? [literal] : target.sources.plan();
  let failure: HopFailure | null = null;
  for (const family of families) {
    const result = await dialOver(family, target, clock, trace, signal);
    if (!(result instanceof Error)) return result;
    failure = result;
  }
  throw failure ?? connectFailure(new Error('no address'), target.host, target.port);
}

/** Over one family; null for either. Gives the failure, so that the other can be tried; rejects when it must end. */
function dialOver(
  family: Family | null,
  { host, address, port, sources, noLinkLocal }: DialTarget,
  clock: Clock,
  trace: Trace,
  signal: AbortSignal,
): Promise<Socket | HopFailure> {
  return new Promise((resolve, reject) => {
    const startedAt = clock.mono();
    let resolvedAt = startedAt;
    const localAddress = family === null ? null : sources.next(family);
    const socket = connect({
      host: address ?? host,
      port,
      noDelay: true,
      ...(family === null ? {} : { family }),
      ...(localAddress === null ? {} : { localAddress }),
      ...(noLinkLocal && { blockList: LINK_LOCAL }),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
    const finish = () => {
      socket.removeAllListeners();
      signal.removeEventListener('abort', onAbort);
    };
    const discard = () => {
      finish();
      // A socket that is being destroyed may still report an error, to no one.
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
