import { isIP, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import { tlsFailure } from './failure.ts';
import type { Trace } from './trace.ts';

/**
 * Does the TLS handshake over a connected socket that nobody reads. With `verify` the certificate must be good
 * for `host` and come from a trusted root. Fails with `HopFailure`, cause `tls_failed`, also when the socket is
 * destroyed meanwhile.
 */
export function secure(
  socket: Socket,
  host: string,
  verify: boolean,
  clock: Clock,
  trace: Trace,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const startedAt = clock.mono();
    const name = isIP(host) === 0 ? { servername: host } : {};
    const tls = connect({ socket, host, ...name, rejectUnauthorized: verify });
    const fail = (error: Error) => {
      // What fails may go on to report errors, to no one.
      tls.removeListener('close', onClose);
      tls.on('error', () => {});
      tls.destroy();
      reject(tlsFailure(error, host));
    };
    const onClose = () => fail(new Error('the connection was closed'));
    tls.once('error', fail);
    tls.once('close', onClose);
    tls.once('secureConnect', () => {
      tls.removeListener('error', fail);
      tls.removeListener('close', onClose);
      trace.tlsMs = Math.round(clock.mono() - startedAt);
      trace.tls = `${tls.getProtocol()} ${tls.getCipher().standardName}`;
      trace.happened('TLS', trace.tls);
      resolve(tls);
    });
  });
}
