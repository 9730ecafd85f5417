/** The doctor on the real program: with a server and without one, and where something is wrong. */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createControlClient } from '../../src/control/client.ts';
import type { Finding } from '../../src/operations/system.ts';
import { describeIf } from '../peers/need.ts';
import type { Installation } from '../peers/server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { installed } from './service.ts';

/** Its findings by name, and its status. */
async function examine(installation: Installation) {
  const { code, stdout, stderr } = await installation.run('doctor', '--json');
  expect(stderr).toBe('');
  const { findings }: { findings: Finding[] } = JSON.parse(stdout);
  return { code, findings, of: new Map(findings.map((finding) => [finding.name, finding])) };
}

function configuration(relayPort: number, listener: string): string {
  return `
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: null }
server: { hostname: localhost }
dns: { servers: ["127.0.0.1:1"] }
listener: { ${listener} }
delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${relayPort}, tls: none }]
`;
}

describe('the doctor', () => {
  test('looks at a running server, and at an installation without one', async (context) => {
    await using sink = await sinkForTest();
    const installation = installed(context, configuration(sink.port, 'ports: [0]'));
    const server = await installation.start();
    const running = await examine(installation);
    expect(running.code).toBe(0);
    installation.configure('api: { prot: 1 }');
    const found = expect.stringContaining('the previous settings are in force');
    const faulty = async () => (await examine(installation)).of.get('configuration');
    await vi.waitFor(async () => expect(await faulty()).toMatchObject({ status: 'fail', found }), 30_000);
    installation.configure(configuration(sink.port, 'ports: [0]'));
    for (const name of [
      'configuration',
      'secret key',
      'database',
      'disk',
      'server',
      'certificate',
      'relay out',
    ])
      expect(running.of.get(name)).toMatchObject({ status: 'ok', cure: null });
    expect(running.of.get('host name')).toMatchObject({ status: 'warn' });
    await server.end('SIGTERM');
    const idle = await examine(installation);
    expect(idle.code).toBe(0);
    expect(idle.of.get('server')).toMatchObject({ status: 'skipped' });
    expect(idle.of.get('relay out')).toMatchObject({ status: 'ok' });
  });

  test('fails with the cure where a relay refuses, a port is taken, and the configuration is wrong', async (context) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    context.onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const installation = installed(context, configuration(1, `bind: ["127.0.0.1"], ports: [${port}]`));
    const { code, of, findings } = await examine(installation);
    expect(code).toBe(1);
    expect(of.get('relay out')).toMatchObject({
      status: 'fail',
      cure: expect.stringContaining('waybill relays test out'),
    });
    expect(of.get(`port ${port}`)).toMatchObject({
      status: 'fail',
      found: expect.stringContaining(`(process ${process.pid})`),
    });
    for (const { status, cure } of findings)
      expect(cure === null).toBe(status === 'ok' || status === 'skipped');
    installation.configure('api: { prot: 1 }');
    expect((await examine(installation)).of.get('configuration')).toMatchObject({ status: 'fail' });
  });

  test('tells of a database that cannot be opened, and of the rest all the same', async (context) => {
    const installation = installed(context, configuration(1, 'ports: []'));
    writeFileSync(join(installation.dataDir, 'waybill.db'), 'this is no database'.repeat(500));
    const { code, of } = await examine(installation);
    expect([code, of.get('database')?.status, of.get('disk')?.status]).toEqual([1, 'fail', 'ok']);
  });
});

const outward = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.internal === false && one.family === 'IPv4');

describeIf(outward !== undefined, 'an address besides loopback', 'the open-relay test', () => {
  test('plays a stranger whom the listener refuses, and offers nobody to allow it', async (context) => {
    const installation = installed(context, configuration(1, 'ports: [0]'));
    await installation.start();
    const { of } = await examine(installation);
    expect(of.get('open relay')).toMatchObject({ status: 'ok' });
    expect(of.get('open relay test')).toMatchObject({
      status: 'ok',
      found: expect.stringMatching(/is refused: 550 5\.7\.1/),
    });
    expect(await createControlClient(installation.dataDir).denials({})).toEqual([]);
  });

  test('is told when the whole world may send', async (context) => {
    const installation = installed(context, configuration(1, 'ports: [0], allowed_cidrs: ["0.0.0.0/0"]'));
    await installation.start();
    expect((await examine(installation)).of.get('open relay')).toMatchObject({
      status: 'fail',
      cure: expect.stringContaining('allowed_cidrs: ["127.0.0.0/8","::1/128"]'),
    });
  });
});

async function sinkForTest() {
  const sink = await startSmtpSink();
  return { port: sink.port, [Symbol.asyncDispose]: () => sink.close() };
}
