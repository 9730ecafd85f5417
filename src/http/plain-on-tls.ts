import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Problem } from './problem.ts';

/** The first byte of every TLS connection: a record of type handshake (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

/** The refusal of plain HTTP where TLS is spoken. */
export function plainOnTlsPort(): Problem {
  return new Problem(400, 'plain_on_tls_port', 'This port speaks TLS; use https:// or the plain port.');
}

/**
 * Lets an HTTPS server take plain HTTP on the same port, so that a client who forgot the `s` can be told.
 * The first byte decides; a connection that sends none for `patienceMs` is ended. Must be called before
 * anything else listens for connections.
 */
export function takePlainToo(server: TlsServer, patienceMs: number): void {
  const startTls = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const giveUp = () => socket.destroy();
    // Until a protocol has taken over, nobody else listens, and an unheard error would end the process.
    socket.on('error', giveUp);
    socket.setTimeout(patienceMs, giveUp);
    socket.once('readable', () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) {
        giveUp();
        return;
      }
      socket.unshift(first);
      socket.setTimeout(0, giveUp);
      if (first[0] === TLS_HANDSHAKE) for (const start of startTls) start.call(server, socket);
      // What HTTPS does with a connection once it is deciphered is what has to be done with this one now.
      else server.emit('secureConnection', socket);
    });
  });
}
