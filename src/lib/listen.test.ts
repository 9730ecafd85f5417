import { createServer, type ListenOptions, Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { bind, ListenError } from './listen.ts';

/** Listens as a machine without IPv6 would. */
class Ipv4OnlyServer extends Server {
  override listen(...args: unknown[]): this {
    const { host, port } = args[0] as ListenOptions;
    if (!host?.includes(':')) return super.listen({ host, port });
    queueMicrotask(() => this.emit('error', Object.assign(new Error('no IPv6'), { code: 'EAFNOSUPPORT' })));
    return this;
  }
}

function untilEnd<T extends Server>(server: T): T {
  onTestFinished(() => void server.close());
  return server;
}

test('the IPv6 wildcard becomes the IPv4 one where there is no IPv6', async () => {
  const server = untilEnd(new Ipv4OnlyServer());
  const port = await bind(server, '::', 0, false);
  expect(server.address()).toEqual({ address: '0.0.0.0', family: 'IPv4', port });
});

test('another IPv6 address does not', async () => {
  const failed = bind(new Ipv4OnlyServer(), '::1', 0, false);
  await expect(failed).rejects.toMatchObject({ code: 'address_unavailable', host: '::1' });
});

test('an address that this machine does not have is a typed error', async () => {
  const error = await bind(createServer(), '192.0.2.1', 8025, false).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({ code: 'address_unavailable', host: '192.0.2.1', port: 8025 });
});
