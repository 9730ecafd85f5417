/** A port that stays while the server behind it comes and goes: see {@link startForwarder}. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** See {@link startForwarder}. */
export interface Forwarder {
  readonly port: number;
  /** Where connections lead from now on. */
  target: number;
}

/**
 * Passes connections on to a port of 127.0.0.1, until the test ends. A server that is started again takes any free
 * port, and is reached where it was before: its old port may be another program's by then.
 */
export async function startForwarder(
  target: number,
  test: { readonly onTestFinished: (end: () => void) => void } = { onTestFinished },
): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const there = connect({ port: forwarder.target, host: '127.0.0.1', allowHalfOpen: true });
    pass(client, there);
    pass(there, client);
  });
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    // An error ends in a close.
    from.on('error', () => {}).pipe(to);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const forwarder: Forwarder = { port: (server.address() as AddressInfo).port, target };
  return forwarder;
}
