import { connect, type Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { connectFailure } from './failure.ts';
import type { Trace } from './trace.ts';

/**
 * How long one address may take before the next is tried (RFC 8305). Node gives up the slow one then, so this is
 * more than the RFC's 250 ms; the last address has all the time there is.
 */
const NEXT_ADDRESS_AFTER_MS = 1000;

/**
 * Resolves a host's name and connects to the first of its addresses that answers. Ends with `signal`, whose
 * reason is thrown; other troubles are `HopFailure`.
 */
export function dial(
  host: string,
  port: number,
  clock: Clock,
  trace: Trace,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const startedAt = clock.mono();
    let resolvedAt = startedAt;
    const socket = connect({
      host,
      port,
      noDelay: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
    const finish = () => {
      socket.removeAllListeners();
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (reason: unknown) => {
      finish();
      // A socket that is being destroyed may still report an error, to no one.
      socket.on('error', () => {});
      socket.destroy();
      reject(reason);
    };
    const onAbort = () => fail(signal.reason);
    signal.addEventListener('abort', onAbort);
    socket.once('lookup', () => {
      resolvedAt = clock.mono();
      trace.dnsMs = Math.round(resolvedAt - startedAt);
    });
    socket.once('error', (error) => fail(connectFailure(error, host, port)));
    socket.once('connect', () => {
      finish();
      trace.connectMs = Math.round(clock.mono() - resolvedAt);
      trace.address = socket.remoteAddress ?? null;
      trace.happened('CONNECT', `${trace.address}:${port}`);
      resolve(socket);
    });
  });
}
