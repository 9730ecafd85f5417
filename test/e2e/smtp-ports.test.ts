/** The ports of the SMTP listener: what is bound, what is told of those that cannot be, and what goes on. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, type TestContext, test } from 'vitest';
import type { HealthReport } from '../../src/observe/health-report.ts';
import { ask } from '../crash/customer.ts';
import { describeIf } from '../peers/need.ts';
import { CAN_MAKE_NETWORKS, createNetwork } from '../peers/network.ts';
import type { RunningServer } from '../peers/server.ts';
import { installed } from './service.ts';

const REST = `
api: { port: null }
webui: { port: 0, bind: ["127.0.0.1"] }
health: { disk_low_bytes: 0, disk_critical_bytes: 0 }
`;

describe.concurrent('the ports of the SMTP listener', () => {
  test('a port that another program has is logged, told and skipped; the others take mail', async (context) => {
    const taken = await occupy(context);
    const server = await start(context, `{ ports: [0, ${taken}], bind: ["127.0.0.1"] }`);
    const { smtp, smtpTls } = server.runtime;
    expect([smtp, smtpTls]).toEqual([[expect.any(Number)], []]);
    const health = await healthOf(server);
    expect(health).toMatchObject({
      status: 'degraded',
      message: `Port ${taken} of listener.ports is not bound: another program uses it.`,
      smtp: { listening: true, configuredPorts: [0, taken], listeningPorts: smtp, ports: [0, taken] },
    });
    await server.printed(/"event":"smtp\.port_not_bound"/);
    expect(server.output).toContain(`Port ${taken} of listener.ports is not bound`);
    const line = logOf(server).find(({ event }) => event === 'smtp.port_not_bound');
    expect(line).toMatchObject({ level: 'warn', code: 'address_in_use', key: 'listener.ports', port: taken });
    expect(await greeting(connect(smtp[0] ?? 0, '127.0.0.1'))).toMatch(/^220 /);
  });

  test('a port of implicit TLS speaks TLS from the first byte, and is skipped as the others are', async (context) => {
    const taken = await occupy(context);
    const server = await start(
      context,
      `{ ports: [], implicit_tls_ports: [${taken}, 0], bind: ["127.0.0.1"] }`,
    );
    const { smtp, smtpTls } = server.runtime;
    expect([smtp, smtpTls]).toEqual([[], [expect.any(Number)]]);
    expect(await healthOf(server)).toMatchObject({
      status: 'degraded',
      message: `Port ${taken} of listener.implicit_tls_ports is not bound: another program uses it.`,
      smtp: {
        listening: true,
        configuredPorts: [],
        listeningPorts: [],
        configuredTlsPorts: [taken, 0],
        listeningTlsPorts: smtpTls,
      },
    });
    const socket = connectTls({ port: smtpTls[0] ?? 0, host: '127.0.0.1', rejectUnauthorized: false });
    expect(await greeting(socket)).toMatch(/^220 /);
  });

  test('every address of listener.bind has the port, and no other', async (context) => {
    const server = await start(context, '{ ports: [0], bind: ["127.0.0.1", "127.0.0.2"] }');
    const [port = 0] = server.runtime.smtp;
    for (const host of ['127.0.0.1', '127.0.0.2'])
      expect(await greeting(connect(port, host))).toMatch(/^220 /);
    const [error] = await once(connect(port, '127.0.0.3'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('an address of every kind takes IPv4 too', async (context) => {
    const server = await start(context, '{ ports: [0], bind: ["::"] }');
    expect(await greeting(connect(server.runtime.smtp[0] ?? 0, '127.0.0.1'))).toMatch(/^220 /);
  });

  test('a port that one address cannot have is bound on none', async (context) => {
    const server = await start(context, '{ ports: [0], bind: ["127.0.0.1", "192.0.2.1"] }');
    expect(server.runtime.smtp).toEqual([]);
    expect(await healthOf(server)).toMatchObject({
      status: 'degraded',
      message:
        'No SMTP port is bound: nobody can send mail over SMTP. ' +
        'Port 0 of listener.ports is not bound: an address to bind is not on this machine.',
      smtp: { listening: false },
    });
  });

  test('no ports are healthy, and no role', async (context) => {
    const server = await start(context, '{ ports: [] }');
    const health = await healthOf(server);
    expect(health).toMatchObject({
      status: 'healthy',
      smtp: { listening: false, configuredPorts: [], listeningPorts: [], listeningTlsPorts: [] },
      nodes: [{ roles: ['api', 'delivery', 'webui'] }],
    });
    expect(server.runtime).toMatchObject({ smtp: [], smtpTls: [] });
    expect(server.output).not.toContain('smtp://');
  });

  test('metrics count the connections', async (context) => {
    const server = await start(context, '{ ports: [0], bind: ["127.0.0.1"] }');
    expect((await healthOf(server)).nodes[0]?.roles).toContain('smtp');
    const gauge = async () => /^svc_smtp_connections (\d+)$/m.exec((await ask(server, '/metrics')).body)?.[1];
    expect(await gauge()).toBe('0');
    const socket = connect(server.runtime.smtp[0] ?? 0, '127.0.0.1');
    context.onTestFinished(() => void socket.destroy());
    await once(socket, 'data');
    expect(await gauge()).toBe('1');
  });
});

const NET = 'a network of its own (unshare -n, as root)';

describeIf(CAN_MAKE_NETWORKS, NET, 'port 25 and 587', () => {
  const withoutPrivilege = ['setpriv', '--bounding-set=-net_bind_service', '--inh-caps=-net_bind_service'];

  test.concurrent('by default 25 falls back to 2525 where another program has it', async (context) => {
    const { server, health } = await startAlone(context, { occupied: [25] });
    expect(server.runtime).toMatchObject({ smtp: [2525, 587], smtpTls: [] });
    expect(health).toMatchObject({
      status: 'healthy',
      smtp: { listening: true, configuredPorts: [25, 587], listeningPorts: [2525, 587], ports: [25, 587] },
    });
    const told =
      'Port 25 of listener.ports is not bound: another program uses it. Port 2525 is bound instead.';
    expect(health.checks.find(({ name }) => name === 'ports')).toEqual({
      name: 'ports',
      status: 'healthy',
      detail: told,
    });
    await server.printed(/"event":"smtp\.port_fallback"/);
    await server.printed(/smtp:\/\/localhost:2525/);
    expect(server.output).toContain(told);
    expect(logOf(server).filter(({ event }) => event.startsWith('smtp.port_'))).toMatchObject([
      { event: 'smtp.port_not_bound', code: 'address_in_use', port: 25 },
      { event: 'smtp.port_fallback', port: 25, bound: 2525 },
    ]);
  });

  test.concurrent('without privilege the defaults are excused, and the cure is told', async (context) => {
    const { server, health } = await startAlone(context, { under: withoutPrivilege });
    expect(server.runtime.smtp).toEqual([2525]);
    expect(health.status).toBe('healthy');
    const cure = 'it needs CAP_NET_BIND_SERVICE, or a lower sysctl net.ipv4.ip_unprivileged_port_start.';
    expect(health.checks.find(({ name }) => name === 'ports')?.detail).toBe(
      `Port 25 of listener.ports is not bound: ${cure} Port 2525 is bound instead. ` +
        `Port 587 of listener.ports is not bound: ${cure}`,
    );
  });

  test.concurrent.for<[string, string, readonly number[], readonly number[]]>([
    ['a port 25 that was set', '{ ports: [25] }', [25], [2525]],
    ['a port 25 beside a 2525 that is listed anyway', '{ ports: [25, 2525] }', [25], [2525]],
    ['a port 25 whose fallback is taken too', '{ ports: [25, 26] }', [25, 2525], [26]],
    ['a default that is taken and has no fallback', '{}', [587], [25]],
  ])('health is degraded by %s', async ([, listener, occupied, bound], context) => {
    const { server, health } = await startAlone(context, { occupied, listener });
    expect(server.runtime.smtp).toEqual(bound);
    expect(health.status).toBe('degraded');
    expect(health.smtp.listeningPorts).toEqual(server.runtime.smtp);
  });

  test.concurrent('where 25 can be had, it is 25', async (context) => {
    const { server, health } = await startAlone(context, {});
    expect(server.runtime.smtp).toEqual([25, 587]);
    expect(health).toMatchObject({ status: 'healthy', message: 'All is well.' });
  });
});

interface Alone {
  readonly occupied?: readonly number[];
  readonly listener?: string;
  /** What goes before the server's command. */
  readonly under?: readonly string[];
}

/** A server in a network of its own, and what its health says. */
async function startAlone(
  context: TestContext,
  { occupied = [], listener = '{}', under = [] }: Alone,
): Promise<{ readonly server: RunningServer; readonly health: HealthReport }> {
  const network = await createNetwork(occupied);
  context.onTestFinished(() => network.end());
  const installation = installed(context, `${REST}listener: ${listener}\n`);
  const server = await installation.start([...network.under, ...under]);
  const health = JSON.parse(await network.ask(server.runtime.webui ?? 0, '/health')) as HealthReport;
  await server.printed(/ is running[.,]/m);
  return { server, health };
}

/** A server with these settings of the listener. */
async function start(context: TestContext, listener: string): Promise<RunningServer> {
  const server = await installed(context, `${REST}listener: ${listener}\n`).start();
  await server.printed(/ is running[.,]/m);
  return server;
}

async function healthOf(server: RunningServer): Promise<HealthReport> {
  return JSON.parse((await ask(server, '/health')).body) as HealthReport;
}

/** A port of 127.0.0.1 that is taken until the test ends. */
async function occupy({ onTestFinished }: TestContext): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** The first that the other end says. */
async function greeting(socket: Socket): Promise<string> {
  const [data] = await once(socket, 'data');
  socket.destroy();
  return String(data);
}

/** What the server has logged. */
function logOf({
  output,
}: RunningServer): (Readonly<Record<string, unknown>> & { readonly event: string })[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}
