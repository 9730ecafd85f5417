/** A proxy that gives a client no time to read: see {@link startResettingProxy}. */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Passes bytes between a client and a server, until the test ends; resolves to its port. It closes the client's
 * connection as soon as the server has closed its own, as load balancers do, and like a kernel it makes a reset of
 * that (lingering zero seconds) when the client has sent anything that was not read: what the client had not read
 * itself by then is lost.
 */
export async function startResettingProxy(port: number): Promise<number> {
  const sockets = new Set<Socket>();
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [client, server]) sockets.add(socket.on('error', () => {}));
    const passOn = (from: Socket, to: Socket) => {
      from.on('data', (chunk) => {
        if (to.destroyed || to.closed) return;
        if (!to.write(chunk)) from.pause();
      });
      to.on('drain', () => from.resume());
    };
    passOn(client, server);
    passOn(server, client);
    client.on('end', () => server.end());
    let serverClosed = false;
    const closeClient = () => {
      if (serverClosed) return;
      serverClosed = true;
      if (server.writableLength > 0 || client.readableLength > 0) client.resetAndDestroy();
      else client.end();
    };
    client.on('data', () => serverClosed && client.resetAndDestroy());
    client.on('close', () => server.destroy());
    server.on('end', closeClient).on('close', closeClient);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  return address.port;
}
