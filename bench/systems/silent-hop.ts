import { createServer, type Socket } from 'node:net';

/** A next hop that is there and never says a word. */
export interface SilentHop {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts one. Who relays to it opens as many connections as it may and waits for a greeting on each, for minutes:
 * nothing is delivered, nothing deferred, nothing tried again while a run lasts.
 */
export async function startSilentHop(): Promise<SilentHop> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // Whoever is killed at the end of a run resets.
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the silent hop has no port');
  return {
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
