/** Two processes want one data directory, or a copy of it: each has at most one owner, and a dead one keeps nobody out. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { installed } from '../e2e/service.ts';
import { Installation } from '../peers/server.ts';
import { HttpCustomer } from './http-customer.ts';

const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [] }
`;
const TIMEOUT = { timeout: 300_000 };

async function customerOf(installation: Installation): Promise<HttpCustomer> {
  return new HttpCustomer((await installation.run('keys', 'create', 'shop', '--quiet')).stdout.trim());
}

test.concurrent(
  'a second server is refused and names the first, even one that stands still',
  TIMEOUT,
  async (context) => {
    const installation = installed(context, CONFIGURATION);
    const customer = await customerOf(installation);
    const server = await installation.start();
    const { pid } = server.runtime;
    for (const still of [false, true]) {
      if (still) server.signal('SIGSTOP');
      const second = await installation.run('serve');
      expect(second).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`is in use by process ${pid}`),
      });
    }
    server.signal('SIGCONT');
    expect(customer.idIn(await customer.send(server))).not.toBeNull();
    expect(readFileSync(join(installation.dataDir, 'lock.pid'), 'utf8')).toBe(`${pid}\n`);
    expect(JSON.parse(readFileSync(join(installation.dataDir, 'runtime.json'), 'utf8'))).toMatchObject({
      pid,
    });
    expect(await server.end('SIGTERM')).toBe(0);
  },
);

test.concurrent(
  'of two that start at once on an empty directory, one serves and the other is refused',
  TIMEOUT,
  async (context) => {
    const installation = installed(context, CONFIGURATION);
    const servers = [installation.launch(), installation.launch()];
    const refused = await Promise.race(servers.map(async (server) => [server, await server.exited] as const));
    expect(refused[1]).toBe(1);
    expect(refused[0].output).toContain('is in use by process');
    const [serving] = servers.filter((server) => server !== refused[0]);
    await serving?.ready();
    const customer = await customerOf(installation);
    if (serving !== undefined) expect(customer.idIn(await customer.send(serving))).not.toBeNull();
    expect(await serving?.end('SIGTERM')).toBe(0);
  },
);

test.concurrent(
  'what was killed keeps nobody out, nor does its lock in a copy of the directory',
  TIMEOUT,
  async (context) => {
    const installation = installed(context, CONFIGURATION);
    const customer = await customerOf(installation);
    const killed = await installation.start();
    await customer.send(killed);
    await killed.end('SIGKILL');
    const copy = copyOf(installation, context);
    const servers = await Promise.all([installation.start(), copy.start()]);
    const held = [installation, copy].map(({ dataDir }) =>
      Number(readFileSync(join(dataDir, 'lock.pid'), 'utf8')),
    );
    expect(held).toEqual(servers.map(({ runtime }) => runtime.pid));
    // A command goes to the server of the directory that it names.
    expect((await copy.run('keys', 'create', 'other')).code).toBe(0);
    expect((await installation.run('keys', 'list')).stdout).not.toContain('other');
    const listed = await copy.run('messages', 'list', '--json');
    for (const id of customer.acknowledged.values()) expect(listed.stdout).toContain(id);
    for (const server of servers) expect(await server.end('SIGTERM')).toBe(0);
  },
);

test.concurrent(
  'a copy of a directory on which a server runs does not count as taken',
  TIMEOUT,
  async (context) => {
    const installation = installed(context, CONFIGURATION);
    const server = await installation.start();
    const copy = copyOf(installation, context);
    const other = await copy.start();
    expect(await other.end('SIGTERM')).toBe(0);
    expect(await server.end('SIGTERM')).toBe(0);
  },
);

/** A copy of a data directory, with everything that a server left there or has there. */
function copyOf(installation: Installation, context: TestContext): Installation {
  const copy = new Installation('');
  context.onTestFinished(() => copy.remove());
  const filter = (path: string) => !path.endsWith('.sock');
  cpSync(installation.dataDir, copy.dataDir, { recursive: true, filter });
  return copy;
}
