import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Installation } from '../../../test/support/installation.ts';
import type { Operations } from '../../operations/table.ts';
import { type Actor, operationsOf } from '../door.ts';
import type { Offline } from '../offline.ts';

/** What a plan stands on: the state that it was made of, and those who can take it back. */

let installation: Installation;
let offline: Offline;
let operations: Operations;
beforeEach(async () => {
  installation = new Installation();
  offline = await installation.open();
  operations = offline.operations;
});
afterEach(async () => {
  await offline.close();
  installation.remove();
});

type Declared = Record<string, unknown>;
const SHOP = { name: 'shop', scopes: ['messages:send' as const] };
const ROOT = { name: 'root', scopes: ['admin'] };
const RELAYS = ['a', 'b'].map((name) => ({ name, type: 'smtp', host: `${name}.example` }));
const DELIVERY = { default_relay: 'a' };

async function apply(configuration: Declared, prune = false, secrets: Record<string, string> = {}) {
  const request = { configuration, prune, secrets };
  const { hash } = await operations.planConfiguration(request);
  return await operations.applyConfiguration({ ...request, plan: hash });
}

describe('a plan is of all that it was judged by', () => {
  test('a rule that names a relay which goes, added meanwhile, is told', async () => {
    await apply({ relays: RELAYS, delivery: DELIVERY, routes: [] });
    const request = { configuration: { relays: RELAYS.slice(0, 1) }, prune: true };
    // As the file of a plan has it.
    const { hash, changes, basis } = JSON.parse(JSON.stringify(await operations.planConfiguration(request)));
    expect(Object.keys(basis)).toEqual(['relays', 'delivery', 'routes']);
    await apply({ routes: [{ name: 'r', match: { tag: ['x'] }, via: ['a'] }] });
    const applied = operations.applyConfiguration({ ...request, plan: hash, planned: changes, basis });
    await expect(applied).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('not as it was planned: the section routes'),
    });
    expect((await operations.relays({})).map(({ name }) => name)).toContain('b');
  });

  test.each<[string, Declared, (all: Operations) => Promise<unknown>]>([
    ['a key with a new secret', { keys: [] }, (all) => all.rotateKey({ key: 'shop' })],
    [
      'a template with a new draft',
      { templates: [] },
      (all) =>
        all.saveTemplate({ alias: 't', name: 't', subject: 'Draft', html: null, text: 'x', basedOn: 1 }),
    ],
    [
      'a domain with new keys',
      { domains: [] },
      (all) => all.rotateDomain({ name: 'example.com', algorithm: null, selector: null, now: false }),
    ],
    ['another key', { keys: [] }, (all) => all.createKey({ ...SHOP, ...REST, name: 'new' })],
  ])('%s is another state', async (_what, configuration, change) => {
    await apply({
      keys: [SHOP],
      templates: [{ alias: 't', subject: 's', text: 't' }],
      domains: [{ name: 'example.com', algorithm: 'ed25519' }],
    });
    const request = { configuration, prune: true };
    const { hash } = await operations.planConfiguration(request);
    await change(operations);
    await expect(operations.applyConfiguration({ ...request, plan: hash })).rejects.toThrow(
      'was made of another state, or of another file',
    );
  });

  test('what somebody else changes while it is applied is told, and nothing of it is stored', async () => {
    const request = { configuration: { domains: [{ name: 'example.com', algorithm: 'rsa' }] } };
    const { hash } = await operations.planConfiguration(request);
    // Making an RSA key takes far longer than storing another one.
    const applied = operations.applyConfiguration({ ...request, plan: hash });
    await operations.createKey({ ...SHOP, ...REST, scopes: [...SHOP.scopes] });
    await expect(applied).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(/^Nothing was changed, because .*\nkey shop: added$/),
    });
    // Not only in force: what was written would be there at the next start.
    await offline.close();
    offline = await installation.open();
    expect(await offline.operations.domains({})).toEqual([]);
  });

  test('what has nothing to do with it may change', async () => {
    const request = { configuration: { keys: [SHOP] } };
    const { hash } = await operations.planConfiguration(request);
    await apply({ domains: [{ name: 'example.com', algorithm: 'ed25519' }] });
    expect((await operations.applyConfiguration({ ...request, plan: hash })).changes).toHaveLength(1);
  });
});

const REST = { test: false, rateLimit: null, expiresAt: null, cidrs: [], senderDomains: [] };

describe('those who administer', () => {
  const asking = (sourceAddress: string | null = null): Operations => {
    const actor: Actor = { kind: 'key', name: 'root', role: 'admin', sourceAddress, sessionId: null };
    return operationsOf(offline.door, actor);
  };
  beforeEach(() => apply({ keys: [ROOT, { ...ROOT, name: 'other' }] }));

  test.each<[string, Declared[], string]>([
    ['be revoked', [], 'it would be revoked'],
    ['lose its scope', [{ ...ROOT, scopes: ['messages:send'] }], 'it would lose the scope admin'],
    [
      'be locked out',
      [{ ...ROOT, cidrs: ['198.51.100.0/24'] }],
      'it could not be used from 192.0.2.7 any more',
    ],
  ])('the key that asks cannot %s', async (_what, keys, told) => {
    const request = { configuration: { keys: [...keys, { ...ROOT, name: 'other' }] }, prune: true };
    await expect(asking('192.0.2.7').planConfiguration(request)).rejects.toThrow(
      `keys: root is the key that asks for this, and ${told}`,
    );
    // Another one may do so to it.
    expect((await operations.planConfiguration(request)).changes).toHaveLength(1);
  });

  test('one of them stays: a key, or a user of the dashboard', async () => {
    const request = { configuration: { keys: [] }, prune: true };
    await expect(operations.planConfiguration(request)).rejects.toThrow(
      'nobody could administer this server',
    );
    await operations.resetPassword({ name: 'ada', password: 'correct horse battery staple' });
    expect((await operations.planConfiguration(request)).changes).toHaveLength(2);
  });

  test('a test key is none of them', async () => {
    const keys = [{ ...ROOT, name: 'trial', test: true }];
    await expect(operations.planConfiguration({ configuration: { keys }, prune: true })).rejects.toThrow(
      'nobody could administer this server',
    );
  });
});

describe('keys that have expired', () => {
  const OLD = { ...SHOP, name: 'old', expires_at: '2020-01-01T00:00:00Z' };

  test('are exported, and made again as they are, with the webhooks that name them', async () => {
    const webhooks = [
      { url: 'https://a.example/', keys: ['shop', 'old'] },
      { url: 'https://b.example/', key: 'old' },
    ];
    const { made } = await apply({ keys: [SHOP, OLD], webhooks });
    // Nobody has any use for its secret.
    expect(made.map(({ name }) => name)).toEqual(['shop', 'https://a.example/', 'https://b.example/ of old']);
    const { configuration } = await operations.exportConfiguration({});
    expect(configuration).toMatchObject({
      keys: [{ name: 'old', expires_at: '2020-01-01T00:00:00.000Z' }, { name: 'shop' }],
      webhooks: [{ keys: ['shop', 'old'] }, { key: 'old' }],
    });
    const plan = await operations.planConfiguration({ configuration: { ...configuration }, prune: true });
    expect([plan.changes, plan.left]).toEqual([[], []]);
  });

  test('are not made of keys that work', async () => {
    await apply({ keys: [SHOP] });
    const keys = [{ ...OLD, name: 'shop' }];
    await expect(operations.planConfiguration({ configuration: { keys } })).rejects.toThrow(
      'shop: expires_at is past, which would end a key that works',
    );
  });
});

test('a webhook that changes keeps what it was told of revoked keys', async () => {
  await apply({ keys: [SHOP, { ...SHOP, name: 'gone' }], webhooks: [{ url: URL, keys: ['shop', 'gone'] }] });
  await operations.revokeKey({ key: 'gone' });
  await apply({ webhooks: [{ url: URL, keys: ['shop'], tags: ['x'] }] });
  const { webhooks } = await operations.listWebhooks({});
  expect(webhooks).toMatchObject([{ keys: ['shop', 'gone'], tags: ['x'] }]);
});

const URL = 'https://shop.example.com/';

test('the files of two secrets never have one name', async () => {
  const urls = [
    'https://a.example/x-y',
    'https://a.example/x.y',
    'https://a.example/X.y',
    `${URL}${'x'.repeat(500)}`,
  ];
  await apply({ webhooks: urls.map((url) => ({ url })) });
  const { files } = await operations.exportConfiguration({});
  expect(new Set(files.map((one) => one.toLowerCase())).size).toBe(urls.length);
  // Longer ones would be no names of files.
  expect(Math.max(...files.map((one) => one.length))).toBeLessThan(128);
});

describe('the activity', () => {
  const last = async () => {
    const query = { actor: null, action: 'applyConfiguration', subject: null, limit: 1, before: null };
    const [entry] = (await operations.activity(query)).entries;
    return entry;
  };

  test('shows what an apply changed, without secrets', async () => {
    const relay = { ...RELAYS[0], username: 'u', password_file: 'p' };
    await apply({ relays: [relay, RELAYS[1]], delivery: DELIVERY, keys: [SHOP] }, false, { p: 'hunter2' });
    const relays = [{ ...relay, port: 2525 }];
    await apply({ relays, keys: [SHOP, { ...SHOP, name: 'new' }] }, true, { p: 'hunter3' });
    const entry = await last();
    expect(entry).toMatchObject({
      before: {
        'relays a': { port: 587, password: '********' },
        'relays b': { type: 'smtp', host: 'b.example' },
      },
      after: {
        'relays a': { port: 2525, password: '********' },
        'keys new': { scopes: ['messages:send'] },
      },
    });
    expect(JSON.stringify(entry)).not.toMatch(/hunter|wb_live/);
  });

  test('names all of it, where it is too much to show', async () => {
    const many = Array.from({ length: 60 }, (_, n) => ({ ...SHOP, name: `key${n}` }));
    await apply({ keys: many });
    expect(await last()).toMatchObject({
      before: null,
      after: { added: expect.arrayContaining(['keys key7', '… and 20 more']), changed: [], removed: [] },
    });
  });
});
