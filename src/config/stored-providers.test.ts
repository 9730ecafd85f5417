import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';
import type { OpenedRelay, Sources } from './sources.ts';

const FIELDS = { name: 'api', type: 'resend', endpoint: 'http://127.0.0.1:9' };
const STORED: OpenedRelay = {
  name: 'api',
  definition: JSON.stringify(FIELDS),
  disabled: false,
  password: 're_key',
  unreadable: false,
};
const DEFAULT: Readonly<Record<string, string>> = { 'delivery.default_relay': '"api"' };
const PERMIT = { WAYBILL_DELIVERY__PRIVATE_RELAYS: 'api' };

function resolved(relay: OpenedRelay, settings = DEFAULT, environment: Sources['environment'] = {}) {
  const stored = { settings: new Map(Object.entries(settings)), relays: [relay] };
  const readSecret = () => '';
  const { config, faults } = resolve({ environment, file: null, stored, readSecret });
  return { config, faults: faults.map(formatFault) };
}

test("a stored provider's secret is its secret, and file and environment may let it speak to this machine", () => {
  const { config, faults } = resolved(STORED, DEFAULT, PERMIT);
  expect(faults).toEqual([]);
  expect(config.relays[1]).toMatchObject({ provider: { secret: 're_key', allowPrivate: true } });
  expect(resolved(STORED).faults).toEqual([
    expect.stringContaining('relays.api.endpoint = "http://127.0.0.1:9": must begin with https://'),
  ]);
});

test('who may store settings may not let relays speak to private addresses', () => {
  const { faults } = resolved(STORED, { ...DEFAULT, 'delivery.private_relays': '["api"]' });
  expect(faults).toContain(
    'delivery.private_relays: can only be set in the configuration file and the environment (stored setting)',
  );
});

test('a provider whose secret is lost with its key keeps no server down', () => {
  const { config, faults } = resolved({ ...STORED, password: null, unreadable: true }, DEFAULT, PERMIT);
  expect(faults).toEqual([]);
  expect(config.unreadableRelays).toEqual(['api']);
  expect(config.relays[1]).toMatchObject({ name: 'api', provider: { secret: '' } });
  // One that never had any is faulty.
  expect(resolved({ ...STORED, password: null }, DEFAULT, PERMIT).faults).toEqual([
    'relays.api.secret: must be given (stored relay)',
  ]);
});
