import { connect, createServer, type ListenOptions, Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { bindAll, ListenError } from './listen.ts';

/** Listens as a machine without IPv6 would. */
class Ipv4OnlyServer extends Server {
  override listen(...args: unknown[]): this {
    const { host, port } = args[0] as ListenOptions;
    if (!host?.includes(':')) return super.listen({ host, port });
    queueMicrotask(() => this.emit('error', Object.assign(new Error('no IPv6'), { code: 'EAFNOSUPPORT' })));
    return this;
  }
}

/** Servers that find this address taken so many times, whatever the port, and what they were asked for. */
class Busy {
  readonly asked: ListenOptions[] = [];
  readonly made: Server[] = [];
  readonly #host: string;
  #times: number;

  constructor(host: string, times: number) {
    this.#host = host;
    this.#times = times;
  }

  readonly make = (): Server => {
    const server = createServer();
    const listen = server.listen.bind(server);
    server.listen = (...args: unknown[]) => {
      const options = args[0] as ListenOptions;
      this.asked.push(options);
      if (options.host !== this.#host || this.#times === 0) return listen(options);
      this.#times -= 1;
      queueMicrotask(() => server.emit('error', Object.assign(new Error('taken'), { code: 'EADDRINUSE' })));
      return server;
    };
    this.made.push(server);
    return server;
  };

  get listening(): number {
    return this.made.filter(({ listening }) => listening).length;
  }
}

const NO_ERRORS = (error: Error) => expect.unreachable(error.message);

async function bound<S extends Server>(hosts: readonly string[], port: number, make: () => S) {
  const { servers, port: chosen } = await bindAll(hosts, port, make, NO_ERRORS);
  onTestFinished(() => {
    for (const server of servers) server.close();
  });
  return { servers, port: chosen };
}

function failed(hosts: readonly string[], port: number, make: () => Server): Promise<unknown> {
  return bindAll(hosts, port, make, NO_ERRORS).catch((error: unknown) => error);
}

/** Whether somebody listens there. */
function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}

test('several addresses share one free port', async () => {
  const { servers, port } = await bound(['127.0.0.1', '127.0.0.2'], 0, createServer);
  expect(servers.map((server) => server.address())).toEqual([
    { address: '127.0.0.1', family: 'IPv4', port },
    { address: '127.0.0.2', family: 'IPv4', port },
  ]);
});

test('a free port that is taken on another address is chosen anew, and the first one given back', async () => {
  const busy = new Busy('127.0.0.2', 2);
  const { port } = await bound(['127.0.0.1', '127.0.0.2'], 0, busy.make);
  expect(busy.asked.map(({ host }) => host)).toEqual([1, 2, 1, 2, 1, 2].map((last) => `127.0.0.${last}`));
  expect(busy.asked.at(-1)?.port).toBe(port);
  expect(busy.listening).toBe(2);
});

test('that is tried five times, and then nothing stays bound', async () => {
  const busy = new Busy('127.0.0.2', 9);
  const error = await failed(['127.0.0.1', '127.0.0.2'], 0, busy.make);
  expect(error).toMatchObject({ code: 'address_in_use', host: '127.0.0.2' });
  expect(busy.asked.length).toBe(10);
  expect(busy.listening).toBe(0);
});

test('a port that was asked for is tried once, and then nothing stays bound', async () => {
  const { port } = await bound(['127.0.0.1'], 0, createServer);
  const error = await failed(['127.0.0.2', '127.0.0.1'], port, createServer);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({ code: 'address_in_use', host: '127.0.0.1', port });
  expect(await answers('127.0.0.2', port)).toBe(false);
});

test('the IPv6 wildcard leaves IPv4 to the address that is listed for it; no other address has a say in that', async () => {
  const asked = async (...hosts: string[]) => {
    const busy = new Busy(hosts.at(-1) ?? '', 1);
    await failed(hosts, 1, busy.make);
    return busy.asked.at(-1)?.ipv6Only;
  };
  expect(await asked('127.0.0.1', '::')).toBe(true);
  expect(await asked('::1', '::')).toBe(false);
  expect(await asked('127.0.0.1', '::1')).toBe(false);
});

test('the IPv6 wildcard becomes the IPv4 one where there is no IPv6', async () => {
  const { servers, port } = await bound(['::'], 0, () => new Ipv4OnlyServer());
  expect(servers[0]?.address()).toEqual({ address: '0.0.0.0', family: 'IPv4', port });
});

test('another IPv6 address does not', async () => {
  const error = await failed(['::1'], 0, () => new Ipv4OnlyServer());
  expect(error).toMatchObject({ code: 'address_unavailable', host: '::1' });
});

test('an address that this machine does not have is a typed error', async () => {
  const error = await failed(['192.0.2.1'], 8025, createServer);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({ code: 'address_unavailable', host: '192.0.2.1', port: 8025 });
});

test('what goes wrong with a server later is told, and ends nothing', async () => {
  const errors: string[] = [];
  const { servers, port } = await bindAll(['127.0.0.1'], 0, createServer, ({ message }) =>
    errors.push(message),
  );
  onTestFinished(() => void servers[0]?.close());
  servers[0]?.emit('error', new Error('accept EMFILE'));
  expect(errors).toEqual(['accept EMFILE']);
  expect(await answers('127.0.0.1', port)).toBe(true);
});
