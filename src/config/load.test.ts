import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemRandom } from '../lib/random.ts';
import { formatFault } from './fault.ts';
import { dataDirectory, type Loaded, type LoadOptions, loadConfig, NOTHING_STORED } from './load.ts';
import { afterReload, changedSettings } from './reload.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waybill-config-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

function load(parts: Partial<LoadOptions> = {}) {
  return loadConfig({ dataDir, environment: {}, stored: NOTHING_STORED, random: systemRandom, ...parts });
}

test('the data directory is the option, else the variable, else ./data', () => {
  expect(dataDirectory('a', { WAYBILL_DATA: 'b' })).toBe(join(process.cwd(), 'a'));
  expect(dataDirectory(undefined, { WAYBILL_DATA: '/b' })).toBe('/b');
  expect(dataDirectory(undefined, {})).toBe(join(process.cwd(), 'data'));
  writeFileSync(join(dataDir, 'where'), '/c\n');
  expect(dataDirectory(undefined, { WAYBILL_DATA_FILE: join(dataDir, 'where') })).toBe('/c');
});

test('the file is the named one, else waybill.yaml in the data directory', () => {
  expect(load().faults).toEqual([]);
  writeFileSync(join(dataDir, 'waybill.yaml'), 'api: { port: 1 }');
  writeFileSync(join(dataDir, 'other.yaml'), 'api: { port: 2 }');
  const other = join(dataDir, 'other.yaml');
  expect(load().config.api.port).toBe(1);
  expect(load({ configFile: other }).config.api.port).toBe(2);
  expect(load({ environment: { WAYBILL_CONFIG: other } }).config.api.port).toBe(2);
  expect(load({ configFile: '/none.yaml' }).faults.map(formatFault)).toContain(
    '/none.yaml: cannot be read: there is no such file (file)',
  );
});

test('stored passwords open with the key of the data directory, which is made when missing', () => {
  const { vault } = load();
  expect(existsSync(join(dataDir, 'secret.key'))).toBe(true);
  const definition = '{"name":"out","type":"smtp","host":"a.example","username":"u"}';
  const secret = vault?.seal('pw', 'out') ?? null;
  const stored = {
    settings: new Map([['delivery.default_relay', '"out"']]),
    relays: [{ name: 'out', definition, secret, disabled: false }],
    holds: [{ target: 'out', kind: 'pause' as const, since: 1 }],
    domains: [],
  };
  expect(load({ stored }).config.relays[1]?.smtp?.password).toBe('pw');
  expect(load({ stored }).holds).toEqual(new Map([['out', 'pause']]));

  rmSync(join(dataDir, 'secret.key'));
  const lost = load({ stored });
  expect([lost.faults, lost.config.unreadableRelays]).toEqual([[], ['out']]);

  const keyFile = join(dataDir, 'other.key');
  writeFileSync(keyFile, 'ab'.repeat(32));
  const named = load({ stored, environment: { WAYBILL_SECRETS__KEY_FILE: keyFile } });
  expect(named.faults.map(formatFault)[0]).toContain('is not the key that the password of relay out');
});

test('a named key that is missing is a fault, not made', () => {
  const keyFile = join(dataDir, 'named.key');
  const { faults, vault } = load({ environment: { WAYBILL_SECRETS__KEY_FILE: keyFile } });
  expect([faults.length, vault, existsSync(keyFile)]).toEqual([1, null, false]);
});

/** Loads once more, over what runs, with this file. */
function reload(started: Loaded, yaml: string): Loaded {
  writeFileSync(join(dataDir, 'waybill.yaml'), yaml);
  return afterReload(started, load());
}

test('after a reload live settings hold, and those that need a restart wait as they were', () => {
  const started = load();
  const next = reload(started, 'api: { port: 1, rate_limit_per_key: 2, max_recipients: 1000 }');
  expect(next.config.api).toMatchObject({ port: 8025, rateLimitPerKey: 2 });
  expect(next.faults).toEqual([]);
  expect(next.pending.map(({ key, value }) => [key, value])).toEqual([['api.port', 1]]);
  expect(next.effective.find(({ key }) => key === 'api.port')).toMatchObject({
    value: 8025,
    origin: 'default',
  });
  expect(changedSettings(started.effective, next.effective)).toEqual(['api.rate_limit_per_key']);
  expect(reload(started, 'api: { port: 8025 }').pending).toEqual([]);
});

test('live settings that do not go with one that waits for a restart are a fault', () => {
  const yaml = 'api: { max_message_bytes: 100000000 }\nlimits: { max_bytes_in_flight: 200000000 }';
  const { faults } = reload(load(), yaml);
  expect(faults.map(formatFault)).toEqual([
    'limits.max_bytes_in_flight = 134217728: must be at least 2 times api.max_message_bytes; its new value needs a restart (default)',
  ]);
  expect(load().faults).toEqual([]);
});
