import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';

/** A handshake that has begun. */
export interface Handshake {
  /** What is spoken over from now on. The socket below it must not be touched any more. */
  readonly tls: TLSSocket;
  /** Whether it came about. Never rejects. */
  readonly secured: Promise<boolean>;
}

/** Does the server's side of a TLS handshake over a connected socket, with what is still unread of it. */
export function secureServerSide(socket: Socket, secureContext: SecureContext): Handshake {
  const tls = new TLSSocket(socket, { isServer: true, secureContext });
  // Errors end in a close, before, within and after the handshake.
  tls.on('error', () => tls.destroy());
  const secured = new Promise<boolean>((resolve) => {
    // Who closes its side before that cannot finish it; afterwards it may, and gets its replies.
    const leave = () => tls.destroy();
    tls.once('end', leave);
    // An end that was read before TLS took over the reading is never told to TLS.
    socket.once('end', leave);
    if (socket.readableEnded) leave();
    tls.once('secure', () => {
      tls.removeListener('end', leave);
      socket.removeListener('end', leave);
      resolve(true);
    });
    tls.once('close', () => resolve(false));
    socket.once('close', () => {
      tls.destroy();
      resolve(false);
    });
  });
  return { tls, secured };
}

/** The same behind STARTTLS, over a socket that was spoken over: what came behind it in clear is dropped (RFC 3207 §6). */
export function upgrade(socket: Socket, secureContext: SecureContext): Handshake {
  for (const event of ['data', 'drain', 'end']) socket.removeAllListeners(event);
  socket.pause();
  while (socket.read() !== null);
  return secureServerSide(socket, secureContext);
}
