import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { provenNote } from '../config/hook-tokens.ts';
import { loadConfig } from '../config/load.ts';
import { RELAY_FIELDS, SECRET_FIELDS } from '../config/relay-fields.ts';
import { RELAY_TYPES } from '../config/relay-types.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import type { RelayOperations } from '../operations/relays.ts';
import type { RouteOperations } from '../operations/routes.ts';
import type { SettingsOperations } from '../operations/settings.ts';
import type { Registry } from '../store/registry.ts';
import { openSqlite } from '../store/sqlite/open.ts';
import type { LocalDeps } from './deps.ts';
import { storedRows } from './in-force.ts';
import type { Offline } from './offline.ts';
import { relayOperations } from './relays.ts';
import { routeOperations } from './routes.ts';
import { settingsOperations } from './settings.ts';

const SMTP = { name: 'out', type: 'smtp', host: 'mail.example', username: 'u' };
const SECRET = 'planted-password';

let here: Installation;
let opened: Offline;
beforeEach(async () => {
  here = new Installation();
  opened = await here.open();
  await opened.operations.addRelay({ definition: SMTP, secret: SECRET, makeDefault: true });
});
afterEach(async () => {
  await opened.close();
  here.remove();
});

const update = (changes: Record<string, unknown>, secret: string | null = null) =>
  opened.operations.updateRelay({ name: 'out', definition: { ...SMTP, ...changes }, secret });
const detail = () => opened.operations.relay({ name: 'out' });

describe('a stored relay', () => {
  test('is shown with its definition, its rules, and whether it has a secret, never which', async () => {
    const routes = [{ name: 'news', match: { tag: 'news' }, via: ['out'] }];
    await opened.operations.publishRoutes({ routes });
    const shown = await detail();
    expect(shown).toMatchObject({ definition: SMTP, hasSecret: true, history: [], rules: ['news'] });
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });

  test('is shown with the limits that hold, also those that nobody gave', async () => {
    const usual = { maxConcurrency: 20, maxRatePerSecond: 0, maxPerDomain: null, maxMessageBytes: 0 };
    expect((await detail()).limits).toEqual({ ...usual, maxRecipients: 100 });
    await update({ max_concurrency: 3, max_recipients: 7 });
    expect((await detail()).limits).toEqual({ ...usual, maxConcurrency: 3, maxRecipients: 7 });
    const inbox = await opened.operations.relay({ name: 'inbox' });
    expect(inbox.limits).toMatchObject({ maxPerDomain: null, maxMessageBytes: 0 });
  });

  test('is changed and keeps its secret while that goes the same way', async () => {
    const changed = await update({ max_concurrency: 3, helo: 'out.example', username: 'v' });
    expect(changed).toMatchObject({ username: 'v', host: 'mail.example', credentialsUnreadable: false });
    expect(await detail()).toMatchObject({ hasSecret: true, definition: { max_concurrency: 3 } });
  });

  test.each([
    ['host', { host: 'evil.example' }],
    ['port', { port: 2525 }],
    ['tls', { tls: 'opportunistic' }],
    ['verify', { verify: false }],
    ['type', { type: 'mailgun', domain: 'm.example', host: undefined, username: undefined }],
  ])('needs its secret anew with another %s', async (part, changes) => {
    const definition = Object.fromEntries(
      Object.entries({ ...SMTP, ...changes }).filter(([, value]) => value !== undefined),
    );
    const call = (secret: string | null) =>
      opened.operations.updateRelay({ name: 'out', definition, secret });
    await expect(call(null)).rejects.toThrow(new RegExp(`again.*: .*${part}`));
    expect(await detail()).toMatchObject({ definition: SMTP });
    await call('another-secret');
    expect(await detail()).toMatchObject({ definition, hasSecret: true });
  });

  test('needs its secret anew with another endpoint or region', async () => {
    const ses = { type: 'ses', region: 'eu-west-1', access_key_id: 'AKIAIOSFODNN7EXAMPLE' };
    const add = { definition: { name: 'aws', ...ses }, secret: SECRET, makeDefault: false };
    await opened.operations.addRelay(add);
    const change = (changes: object) =>
      opened.operations.updateRelay({ name: 'aws', definition: { ...ses, ...changes }, secret: null });
    await change({ configuration_set: 'bulk' });
    for (const changes of [{ region: 'us-east-1' }, { endpoint: 'https://evil.example' }])
      await expect(change(changes)).rejects.toThrow(/again.*endpoint/);
  });

  test('that signs in by OAuth has several secrets, sealed, and needs them anew where they would go elsewhere', async () => {
    const google = {
      type: 'smtp',
      host: 'smtp.gmail.com',
      username: 'a@b.example',
      auth: 'xoauth2',
      preset: 'google',
      client_id: 'client',
    };
    const secret = { secret: 'client-secret', refresh_token: 'refresh-token' };
    const definition = { name: 'gmail', ...google };
    const { operations } = opened;
    await expect(
      operations.addRelay({ definition, secret: 'client-secret', makeDefault: false }),
    ).rejects.toThrow(/refresh_token: must be given/);
    await operations.addRelay({ definition, secret, makeDefault: false });
    const shown = await operations.relay({ name: 'gmail' });
    expect(shown).toMatchObject({ hasSecret: true, definition: google, credentialsUnreadable: false });
    const told = JSON.stringify([shown, await operations.configuration({})]);
    expect(told).toContain('relays.gmail.refresh_token');
    expect(told).not.toMatch(/client-secret|refresh-token/);
    const change = (changes: object, given: typeof secret | null = null) =>
      operations.updateRelay({ name: 'gmail', definition: { ...google, ...changes }, secret: given });
    await change({ max_concurrency: 2 });
    await expect(change({ token_url: 'https://evil.example/token' })).rejects.toThrow(/again.*: token_url/);
    await expect(change({ host: 'evil.example' })).rejects.toThrow(/again.*: host/);
    await expect(change({ auth: 'plain', preset: undefined, client_id: undefined })).rejects.toThrow(
      /again.*: auth/,
    );
    await expect(change({ client_id: undefined })).rejects.toThrow(/client_id: must be given/);
    await change({ token_url: 'https://id.example/token' }, secret);
    expect(await operations.relay({ name: 'gmail' })).toMatchObject({
      definition: { token_url: 'https://id.example/token' },
      hasSecret: true,
    });
  });

  test('of a provider keeps its secret when that of its webhooks is given, changed or taken away', async () => {
    const resend = { name: 'rs', type: 'resend' };
    const given = { secret: 're_key', webhook_secret: 'whsec_b25l' };
    await opened.operations.addRelay({ definition: resend, secret: 're_key', makeDefault: false });
    const inForce = async () => {
      await opened.close();
      const database = openSqlite(join(here.dataDir, 'waybill.db'));
      const stored = await storedRows(database.registry);
      await database.store.close();
      opened = await here.open();
      const { config } = loadConfig({ dataDir: here.dataDir, environment: {}, stored, random: systemRandom });
      return config.relays.find(({ name }) => name === 'rs')?.provider;
    };
    expect(await inForce()).toMatchObject({ secret: 're_key', webhookSecret: null });
    const change = (secret: Record<string, string> | string | null, changes: object = {}) =>
      opened.operations.updateRelay({ name: 'rs', definition: { ...resend, ...changes }, secret });
    await change({ webhook_secret: 'whsec_b25l' });
    expect(await inForce()).toMatchObject({ secret: 're_key', webhookSecret: 'whsec_b25l' });
    await change(null, { max_per_day: 5 });
    expect(await inForce()).toMatchObject({ secret: 're_key', webhookSecret: 'whsec_b25l' });
    await change('re_other');
    expect(await inForce()).toMatchObject({ secret: 're_other', webhookSecret: 'whsec_b25l' });
    // The key of the API would go along to the other place.
    const elsewhere = { endpoint: 'https://evil.example' };
    await expect(change({ webhook_secret: 'whsec_dHdv' }, elsewhere)).rejects.toThrow(/again.*: endpoint/);
    await change({ ...given }, elsewhere);
    await change({ webhook_secret: '' }, elsewhere);
    expect(await inForce()).toMatchObject({ secret: 're_key', webhookSecret: null });
    await expect(change({ webhook_secret: 'no' }, elsewhere)).rejects.toThrow(
      /webhook_secret: must be whsec_/,
    );
    expect(JSON.stringify(await opened.operations.relay({ name: 'rs' }))).not.toMatch(/re_key|whsec_/);
  });

  test('of Microsoft’s needs its secret anew with another tenant', async () => {
    const definition = {
      name: 'm365',
      type: 'smtp',
      host: 'smtp.office365.com',
      username: 'a@b.example',
      auth: 'xoauth2',
      preset: 'microsoft',
      tenant: 'b.example',
      client_id: '11111111-2222-3333-4444-555555555555',
    };
    const { operations } = opened;
    await operations.addRelay({ definition, secret: 'client-secret', makeDefault: false });
    const change = { name: 'm365', definition: { ...definition, tenant: 'evil.example' }, secret: null };
    await expect(operations.updateRelay(change)).rejects.toThrow(/again.*: .*tenant/);
  });

  test('gives up its password with its user name', async () => {
    const { username: _, ...definition } = SMTP;
    await opened.operations.updateRelay({ name: 'out', definition, secret: null });
    expect(await detail()).toMatchObject({ hasSecret: false, username: null });
  });

  test('takes no secret within its definition, no other name and no fault', async () => {
    await expect(update({ password: 'x' })).rejects.toThrow('separately');
    await expect(update({ name: 'other' })).rejects.toThrow('keeps its name');
    await expect(update({ max_concurrency: 0 })).rejects.toThrow('max_concurrency');
    expect(await detail()).toMatchObject({ definition: SMTP });
  });

  test('that mail waits for does not become one whose mail waits elsewhere', async () => {
    // Without a server, relays that come later are known from the next opening on.
    await opened.close();
    opened = await here.open();
    const message = { from: 'a@example.com', to: ['b@example.net'], subject: 's', text: 't' };
    await opened.operations.submit({ message });
    const direct = { type: 'mx', helo: 'out.example' };
    const call = opened.operations.updateRelay({ name: 'out', definition: direct, secret: null });
    await expect(call).rejects.toThrow(/Mail waits for the relay out \(recipients: 1\)/);
    expect(await update({ max_concurrency: 3 })).toMatchObject({ waiting: 1 });
  });
});

test('a relay of the file is shown without its secret, and changed there', async () => {
  await opened.close();
  const text = `relays: [{ name: filed, type: smtp, host: mail.example, username: u, password: ${SECRET} }]\n`;
  writeFileSync(join(here.dataDir, 'waybill.yaml'), text);
  opened = await here.open();
  const shown = await opened.operations.relay({ name: 'filed' });
  expect(shown).toMatchObject({ definition: { name: 'filed', host: 'mail.example' }, hasSecret: true });
  expect(JSON.stringify(shown)).not.toContain(SECRET);
  const { operations } = opened;
  const call = operations.updateRelay({ name: 'filed', definition: SMTP, secret: null });
  await expect(call).rejects.toThrow('declared in the configuration file; change it there');
  const inbox = operations.updateRelay({ name: 'inbox', definition: SMTP, secret: null });
  await expect(inbox).rejects.toThrow('built in');
  expect(await operations.relay({ name: 'inbox' })).toMatchObject({ definition: null, hasSecret: false });
});

test('there is a form for every type, with what it needs, of the one table', async () => {
  const forms = await opened.operations.relayForms({});
  expect(forms.map(({ type }) => type)).toEqual(RELAY_TYPES);
  for (const { type, fields, help } of forms) {
    expect(help.length).toBeGreaterThan(0);
    const names = fields.map(({ name }) => name);
    expect(names).not.toContain('allow_private');
    const required = fields.filter((field) => field.required).map(({ name }) => name);
    const needed = RELAY_FIELDS.filter(({ requiredFor }) => requiredFor?.some((known) => known === type));
    expect(required).toEqual(['name', ...needed.map(({ name }) => name)]);
    for (const { name, kind, meaning } of fields) {
      // In a form, what the table calls null is an empty field.
      expect(meaning).not.toContain('null');
      expect(kind === 'secret').toBe(SECRET_FIELDS.some((secret) => secret === name));
    }
  }
});

test('a form says what of a definition the secret is bound to, and calls the secret what its type calls it', async () => {
  const forms = await opened.operations.relayForms({});
  const fieldsOf = (wanted: string) => forms.find(({ type }) => type === wanted)?.fields ?? [];
  const bound = (type: string) => fieldsOf(type).flatMap(({ name, binds }) => (binds ? [name] : []));
  expect(bound('smtp')).toEqual(['host', 'port', 'tls', 'verify', 'auth', 'preset', 'tenant', 'token_url']);
  expect(bound('graph')).toEqual(['tenant', 'authority', 'endpoint']);
  expect(bound('webhook')).toEqual(['url']);
  expect(bound('ses')).toEqual(['region', 'endpoint']);
  const secret = (type: string) => fieldsOf(type).find(({ name }) => name === 'secret')?.label;
  expect([secret('postmark'), secret('smtp')]).toEqual(['Server token', 'Client secret']);
});

test('a relay is shown and changed by the command line', async () => {
  await opened.close();
  const shown = await here.waybill(['relays', 'show', 'out']);
  expect(shown.out).toMatch(/host: "mail\.example"[\s\S]*Secret: stored\nRules: none/);
  const changed = await here.json(['relays', 'edit', 'out', '--max-concurrency', '4']);
  expect(changed).toMatchObject({ definition: { ...SMTP, max_concurrency: 4 }, hasSecret: true });
  const unset = await here.json(['relays', 'edit', 'out', '--unset', 'max_concurrency']);
  expect(unset.definition).toEqual(SMTP);
  const moved = await here.waybill(['relays', 'edit', 'out', '--host', 'other.example']);
  expect(moved).toMatchObject({ status: 2, err: expect.stringContaining('again') });
  const file = join(here.dataDir, 'password');
  writeFileSync(file, 'another\n');
  const args = ['relays', 'edit', 'out', '--host', 'other.example', '--password-file', file];
  expect(await here.json(args)).toMatchObject({ host: 'other.example', hasSecret: true });
  expect((await here.waybill(['relays', 'edit', 'out'])).status).toBe(2);
  opened = await here.open();
});

/** An installation whose file is changed by somebody, so that the change which is asked for cannot come into force. */
async function whileFileChanges(
  change: (operations: RelayOperations & SettingsOperations & RouteOperations) => Promise<unknown>,
  prepare: (registry: Registry) => Promise<void> = async () => {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'waybill-relays-'));
  const { registry, store, views, journal } = openSqlite(join(dataDir, 'waybill.db'));
  try {
    await prepare(registry);
    const stored = await storedRows(registry);
    const loaded = loadConfig({ dataDir, environment: {}, stored, random: systemRandom });
    expect(loaded.faults).toEqual([]);
    const fault = { key: 'relays', value: null, rule: 'must be right', source: 'waybill.yaml' };
    const rows = async () => [await registry.relays(), await registry.settings(), await registry.holds()];
    const before = await rows();
    let inForce = before;
    const deps = {
      registry,
      resolution: () => loaded,
      reload: async () => {
        inForce = await rows();
        return isDeepStrictEqual(inForce, before) ? [] : [fault];
      },
      views,
      journal,
      queue: { lanes: () => [], lane: () => null },
      clock: systemClock,
      faultsWith: async () => [],
      server: () => null,
    } as unknown as LocalDeps;
    const done = change({ ...relayOperations(deps), ...settingsOperations(deps), ...routeOperations(deps) });
    await expect(done).rejects.toThrow('must be right');
    expect([await rows(), inForce]).toEqual([before, before]);
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true });
  }
}

const DIRECT = { name: 'direct', type: 'mx', helo: 'mail.example.com' };
const withDirect = async (registry: Registry) => {
  const stored = { name: 'direct', definition: JSON.stringify(DIRECT), secret: null, disabled: false };
  await registry.putRelay(stored, new Map([['delivery.default_relay', '"direct"']]));
  await registry.putHold('direct/example.net', { kind: 'pause', since: 1 });
  await registry.putSetting(provenNote('direct'), '1000');
};

describe('what cannot come into force is taken back', () => {
  test('a relay that is added, and the default that it was to be', () =>
    whileFileChanges(({ addRelay }) => addRelay({ definition: DIRECT, secret: null, makeDefault: true })));

  test('the removal of a relay, which is the default again, and its lanes held', () =>
    whileFileChanges(({ removeRelay }) => removeRelay({ name: 'direct' }), withDirect));

  test('what a relay is changed to', () =>
    whileFileChanges(
      ({ updateRelay }) =>
        updateRelay({ name: 'direct', definition: { ...DIRECT, max_per_domain: 5 }, secret: null }),
      withDirect,
    ));

  test('what a relay is switched to', () =>
    whileFileChanges(({ switchRelay }) => switchRelay({ name: 'direct', disabled: true }), withDirect));

  test('settings, those that had a value and those that had none', () =>
    whileFileChanges(
      ({ putSettings }) => putSettings({ values: { 'log.level': 'debug', 'api.max_tags': 5 } }),
      (registry) => registry.putSetting('log.level', '"warn"'),
    ));

  test('routes, whether there were others or none', async () => {
    const routes = [{ match: { tag: 'a' }, via: ['inbox'] }];
    const publish = ({ publishRoutes }: RouteOperations) => publishRoutes({ routes });
    await whileFileChanges(publish);
    await whileFileChanges(publish, (registry) => registry.putSetting('routes', '[]'));
  });
});
