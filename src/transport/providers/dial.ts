/** Connects to a provider, only at addresses checked at that very moment. */
import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { isPublicAddress } from '../../lib/network.ts';
import type { ProviderTimeouts } from './limits.ts';
import type { ConnectionFacts, ProviderTrace } from './trace.ts';
import {
  abortTrouble,
  connectTrouble,
  dnsTrouble,
  plainTrouble,
  privateTrouble,
  type Trouble,
  timeoutTrouble,
  tlsTrouble,
} from './trouble.ts';

/** How long one address may take before the next is tried (RFC 8305). */
const NEXT_ADDRESS_AFTER_MS = 1000;

/** Resolves a name to its addresses, in the order to try them. Rejects when there are none. */
export type Resolve = (
  host: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** The system's resolver. */
export const systemResolve: Resolve = (host) => lookup(host, { all: true });

export interface DialTerms {
  /** Private and loopback addresses, and plain HTTP, are allowed. */
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly timeouts: ProviderTimeouts;
  /** Authorities to trust instead of those that Node.js trusts, as PEM. */
  readonly ca?: string;
}

/** A connection ready for HTTP. */
export interface Dialled {
  readonly socket: Socket;
  readonly facts: ConnectionFacts;
}

/** Connects to the host of a URL, with TLS unless the URL is plain HTTP. Throws {@link Trouble}. */
export async function dial(
  origin: URL,
  terms: DialTerms,
  trace: ProviderTrace,
  signal: AbortSignal,
): Promise<Dialled> {
  const { clock, timeouts, allowPrivate } = terms;
  const host = hostOf(origin);
  const isPlain = origin.protocol !== 'https:';
  if (isPlain && !allowPrivate) throw plainTrouble(host);
  const connectBy = timed('connect', host, timeouts.connect, clock, signal);
  const socket = await connectBy((end) => connectTo(origin, terms, trace, end));
  if (isPlain) return { socket, facts: factsOf(socket, null) };
  const handshakeBy = timed('tls', host, timeouts.tls, clock, signal);
  const secured = await handshakeBy((end) => secure(socket, host, terms, trace, end));
  return { socket: secured, facts: factsOf(socket, secured) };
}

/** The host of a URL for resolving and showing: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** A time limit for a step, which also ends when told to stop. */
function timed(step: string, host: string, ms: number, clock: Clock, signal: AbortSignal) {
  return async <T>(work: (end: AbortSignal) => Promise<T>): Promise<T> => {
    const done = new AbortController();
    const end = new AbortController();
    const abort = () => end.abort(abortTrouble());
    if (signal.aborted) throw abortTrouble();
    signal.addEventListener('abort', abort, { once: true });
    void clock.sleep(ms, done.signal).then(() => {
      if (!done.signal.aborted) end.abort(timeoutTrouble(step, host, ms));
    });
    try {
      return await work(end.signal);
    } finally {
      signal.removeEventListener('abort', abort);
      done.abort();
    }
  };
}

async function connectTo(
  origin: URL,
  { allowPrivate, resolve, clock }: DialTerms,
  trace: ProviderTrace,
  end: AbortSignal,
): Promise<Socket> {
  const host = hostOf(origin);
  const port = Number(origin.port) || (origin.protocol === 'https:' ? 443 : 80);
  const startedAt = clock.mono();
  const addresses = await orEnd(addressesOf(host, resolve, trace), end);
  if (isIP(host) === 0) trace.dnsMs = Math.round(clock.mono() - startedAt);
  const usable = allowPrivate ? addresses : addresses.filter(({ address }) => isPublicAddress(address));
  if (usable.length === 0) throw privateTrouble(host, addresses[0]?.address ?? host);
  const resolvedAt = clock.mono();
  const socket = connect({
    // Node would connect to a literal address without `lookup`, and bypass the check here.
    host: 'provider.invalid',
    port,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    lookup: (_host, _options, done) => done(null, [...usable]),
  });
  await opened(socket, 'connect', end, (error) => connectTrouble(`${host}:${port}`, error));
  trace.connectMs = Math.round(clock.mono() - resolvedAt);
  trace.happened('CONNECT', `${socket.remoteAddress}:${port}`);
  return socket;
}

async function addressesOf(host: string, resolve: Resolve, trace: ProviderTrace) {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    const addresses = await resolve(host);
    trace.happened(
      'RESOLVE',
      addresses
        .map(({ address }) => address)
        .join(', ')
        .slice(0, 256),
    );
    return addresses;
  } catch (error) {
    throw dnsTrouble(host, error);
  }
}

async function secure(
  socket: Socket,
  host: string,
  { clock, ca }: DialTerms,
  trace: ProviderTrace,
  end: AbortSignal,
): Promise<TLSSocket> {
  const startedAt = clock.mono();
  const name = isIP(host) === 0 ? { servername: host } : {};
  // Set explicitly: the environment (NODE_TLS_REJECT_UNAUTHORIZED) can switch the default off.
  const trust = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'], ...(ca && { ca }) };
  const secured = tlsConnect({ socket, host, ...trust, ...name });
  await opened(secured, 'secureConnect', end, (error) => tlsTrouble(host, error));
  trace.tlsMs = Math.round(clock.mono() - startedAt);
  trace.happened('TLS', tlsOf(secured));
  return secured;
}

/** Waits until a socket is open. Throws its error as `describe` converts it, or the reason of `end`. */
function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  end: AbortSignal,
  describe: (error: Error) => Trouble,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error: Error | null) => {
      socket.removeListener(event, onOpen);
      socket.removeListener('error', onError);
      socket.removeListener('close', onClose);
      end.removeEventListener('abort', onEnd);
      if (error === null) return resolve();
      // A socket being destroyed may still report an error.
      socket.on('error', () => {});
      socket.destroy();
      reject(error);
    };
    const onOpen = () => finish(null);
    const onError = (error: Error) => finish(describe(error));
    const onClose = () => finish(describe(new Error('the connection was closed')));
    const onEnd = () => finish(end.reason);
    socket.once(event, onOpen);
    socket.once('error', onError);
    socket.once('close', onClose);
    end.addEventListener('abort', onEnd, { once: true });
    if (end.aborted) onEnd();
  });
}

/** The work's result, or the reason of `end` if that comes first. */
function orEnd<T>(work: Promise<T>, end: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onEnd = () => reject(end.reason);
  end.addEventListener('abort', onEnd, { once: true });
  return Promise.race([work, promise]).finally(() => end.removeEventListener('abort', onEnd));
}

function factsOf(socket: Socket, secured: TLSSocket | null): ConnectionFacts {
  const { remoteAddress = null, localAddress = null } = socket;
  const tls = secured === null ? null : tlsOf(secured);
  const verdict = secured === null ? 'none' : secured.authorized ? 'verified' : 'unverified';
  return { address: remoteAddress, localAddress, tls, verdict };
}

function tlsOf(socket: TLSSocket): string {
  return `${socket.getProtocol()} ${socket.getCipher().standardName}`;
}
