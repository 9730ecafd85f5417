import { createServer, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../../test/simulation/scene.ts';
import { generateSecret } from '../lib/id.ts';
import { bindAll } from '../lib/listen.ts';
import { seededRandom } from '../lib/random.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import { admitDeveloper, capturing, devFaults, loopbackHosts, planDev } from './dev.ts';

const HOSTS = ['127.0.0.1'];

/** A port that another program has. */
async function takenPort(): Promise<number> {
  const { servers, port } = await bindAll(HOSTS, 0, createServer, () => {});
  onTestFinished(() => Promise.all(servers.map(closed)).then(() => {}));
  return port;
}

function closed(server: Server): Promise<unknown> {
  return new Promise((resolve) => server.close(resolve));
}

async function freePort(): Promise<number> {
  const { servers, port } = await bindAll(HOSTS, 0, createServer, () => {});
  await Promise.all(servers.map(closed));
  return port;
}

test('ports that are free are taken, the first of several; else any', async () => {
  const [taken, other, free] = [await takenPort(), await takenPort(), await freePort()];
  const plan = await planDev({}, '127.0.0.1', { api: [free], webui: [taken], smtp: [other, free] });
  expect([...plan.preferredPorts].toSorted()).toEqual(['api.port', 'listener.ports', 'webui.port']);
  expect(plan.environment).toMatchObject({
    WAYBILL_API__PORT: String(free),
    WAYBILL_WEBUI__PORT: '0',
    WAYBILL_LISTENER__PORTS: String(free),
    WAYBILL_API__BIND: '127.0.0.1',
  });
});

test('what the developer says counts, but for where an installation may be', async () => {
  const said = { WAYBILL_API__PORT: '9000', WAYBILL_LOG__LEVEL: 'debug', WAYBILL_DATA: '/srv/mail' };
  const { environment, preferredPorts } = await planDev(said, null);
  expect(preferredPorts.has('api.port'), 'that one was asked for').toBe(false);
  expect(environment).toMatchObject({ WAYBILL_API__PORT: '9000', WAYBILL_LOG__LEVEL: 'debug' });
  expect(environment['WAYBILL_DATA']).toBeUndefined();
});

test('a host on the command line counts more than the environment, and what is shown is what is bound', async () => {
  const said = { WAYBILL_WEBUI__BIND: '127.0.0.2, 127.0.0.3', WAYBILL_API__BIND: '["127.0.0.4"]' };
  const plain = await planDev(said, null);
  expect(plain.hosts).toEqual({ api: '127.0.0.4', webui: '127.0.0.2', smtp: 'localhost' });
  expect(plain.environment).toMatchObject({ ...said, WAYBILL_LISTENER__BIND: loopbackHosts().join(',') });
  const asked = await planDev(said, '127.0.0.5');
  expect(asked.hosts).toEqual({ api: '127.0.0.5', webui: '127.0.0.5', smtp: '127.0.0.5' });
  for (const section of ['API', 'WEBUI', 'LISTENER'])
    expect(asked.environment[`WAYBILL_${section}__BIND`]).toBe('127.0.0.5');
});

test('no section may listen on another address than loopback', () => {
  const on = (...bind: string[]) => ({ bind });
  expect(devFaults({ api: on(...loopbackHosts()), webui: on('::1'), listener: on('127.0.0.2') })).toEqual([]);
  const faults = devFaults({ api: on('127.0.0.1'), webui: on('127.0.0.1', '0.0.0.0'), listener: on('::') });
  expect(faults.map(({ key, value }) => [key, value])).toEqual([
    ['webui.bind', '0.0.0.0'],
    ['listener.bind', '::'],
  ]);
  expect(faults[0]?.rule).toContain('asks nobody for a password');
});

test('everything is captured, whatever the routes say', () => {
  let settings = { ...SETTINGS, reports: { ...SETTINGS.reports, relay: 'out' } };
  const captured = capturing(() => settings);
  const first = captured();
  expect(first.routing).toEqual({ version: 2, rules: [], defaultRelay: 'inbox', postmaster: null });
  expect(first.reports.relay).toBeNull();
  expect(captured(), 'made once').toBe(first);
  settings = { ...settings, routing: { ...SETTINGS.routing, version: 3 } };
  expect(captured().routing).toEqual({ version: 3, rules: [], defaultRelay: 'inbox', postmaster: null });
});

test('its key is made once, may all that a test key may, and is not given back after it was revoked', async () => {
  const { store, keyring } = openSqlite(':memory:');
  onTestFinished(() => store.close());
  const random = seededRandom(1);
  const preferredPorts = new Set(['api.port' as const]);
  const mode = { secret: generateSecret(random, 'test'), preferredPorts };
  const admit = () => admitDeveloper(mode, keyring, { wall: () => 1000 }, random);
  const { key, resident } = await admit();
  expect(key).toMatchObject({ name: 'dev', mode: 'test', rateLimit: 0 });
  expect(key.scopes).not.toContain('admin');
  expect(resident).toMatchObject({ user: { role: 'admin' }, session: { stage: 'full' } });
  expect((await admit()).key.id).toBe(key.id);
  expect(await keyring.list()).toHaveLength(1);
  await keyring.revoke(key.id, 1000);
  await expect(admit()).rejects.toThrow('was revoked');
});
