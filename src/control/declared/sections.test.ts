import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../../test/support/installation.ts';
import { MAX_DOMAIN_KEYS, MAX_DOMAINS } from '../../domain/domain-keys.ts';
import { UNWATCHED } from '../../operations/operation.ts';
import type { Operations } from '../../operations/table.ts';
import type { Offline } from '../offline.ts';

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

async function apply(configuration: Declared, secrets: Record<string, string> = {}, prune = false) {
  const request = { configuration, secrets, prune };
  const { hash } = await operations.planConfiguration(request);
  return await operations.applyConfiguration({ ...request, plan: hash });
}

const changes = async (configuration: Declared, secrets: Record<string, string> = {}, prune = false) =>
  (await operations.planConfiguration({ configuration, secrets, prune })).changes;

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const URL = 'https://shop.example.com/';

test('a webhook has the secret and the headers of its files, which may change', async () => {
  const webhooks = [{ url: URL, secret_file: 's', headers_file: 'h' }];
  const secrets = { s: SECRET, h: '{"Authorization":"Bearer tok"}' };
  const { made } = await apply({ webhooks }, secrets);
  expect(made).toEqual([]);
  expect(await operations.listWebhooks({})).toMatchObject({
    webhooks: [{ headers: { Authorization: 'Bearer tok' } }],
  });
  expect(await changes({ webhooks }, secrets)).toEqual([]);
  // Without its files it stays as it is.
  expect(await changes({ webhooks })).toEqual([]);
  const other = { ...secrets, h: '{"authorization":"Bearer other"}' };
  const planned = await changes({ webhooks }, other);
  expect(planned).toMatchObject([
    { action: 'change', fields: [{ field: 'headers', before: '********', after: '********' }] },
  ]);
  await apply({ webhooks }, other);
  expect(await operations.listWebhooks({})).toMatchObject({
    webhooks: [{ headers: { authorization: 'Bearer other' } }],
  });
});

test.each([
  ['a secret that is none', { s: 'hello' }, 'whsec_'],
  ['a missing secret of a new one', {}, 'must be there, as the webhook is new'],
  ['headers that are none', { s: SECRET, h: '[]' }, 'a JSON object'],
  ['a header that is ours', { s: SECRET, h: '{"host":"x"}' }, 'cannot be set'],
])('%s is refused', async (_what, secrets: Record<string, string>, told) => {
  const webhooks = [{ url: URL, secret_file: 's', headers_file: 'h' }];
  await expect(changes({ webhooks }, secrets)).rejects.toThrow(told);
});

test('the second webhook of a URL is new, too', async () => {
  await apply({ webhooks: [{ url: URL }] });
  const webhooks = [{ url: URL }, { url: URL, tags: ['new'], headers_file: 'h' }];
  await expect(changes({ webhooks })).rejects.toThrow('webhooks[1]: h must be there, as the webhook is new');
});

test('webhooks are no more than there may be, of a key and in all', async () => {
  const keys = [{ name: 'shop', scopes: ['webhooks:manage'] }];
  const many = (count: number, key: string | null) =>
    Array.from({ length: count }, (_, n) => ({ url: `https://${n}.example/`, key }));
  await expect(changes({ keys, webhooks: many(21, 'shop') })).rejects.toThrow(
    'webhooks: there would be 21 of the key shop, and there may be 20',
  );
  const { made } = await apply({ keys, webhooks: many(20, 'shop') });
  expect(made).toHaveLength(21);
  await expect(
    changes({ webhooks: many(1, 'shop').map((one) => ({ ...one, tags: ['x'] })) }),
  ).resolves.toHaveLength(1);
  await expect(changes({ webhooks: many(181, null) })).rejects.toThrow(
    'webhooks: there would be 201, and there may be 200',
  );
});

test('at the limit of domains, one that goes makes room for one that comes', async () => {
  const domains = Array.from({ length: MAX_DOMAINS }, (_, n) => ({
    name: `d${n}.example`,
    algorithm: 'ed25519',
  }));
  await apply({ domains });
  const other = { name: 'other.example', algorithm: 'ed25519' };
  await expect(changes({ domains: [...domains, other] })).rejects.toThrow(
    'domains: there would be 1001, and there may be 1000',
  );
  expect(await changes({ domains: [...domains.slice(1), other] }, {}, true)).toHaveLength(2);
});

test('of several webhooks with one URL, one that goes leaves the others, with their ids, as they were', async () => {
  const [first, second, third] = ['a', 'b', 'c'].map((tag) => ({ url: URL, tags: [tag] }));
  await apply({ webhooks: [first, second, third] });
  const before = (await operations.listWebhooks({})).webhooks;
  const { changes: done } = await apply({ webhooks: [third, second] }, {}, true);
  expect(done).toMatchObject([{ action: 'remove', name: URL }]);
  const after = (await operations.listWebhooks({})).webhooks;
  expect(after.map(({ id }) => id)).toEqual(before.slice(1).map(({ id }) => id));
});

test('a domain gets keys of another algorithm, which wait for their records', async () => {
  await apply({ domains: [{ name: 'Example.com', algorithm: 'ed25519' }] });
  const domains = [
    { name: 'example.com', algorithm: 'both', return_path: 'bounces.example.com' },
    { name: 'example.net', algorithm: 'ed25519' },
  ];
  const request = { configuration: { domains } };
  const { hash: plan } = await operations.planConfiguration(request);
  // Whoever has gone could not be told of secrets.
  const gone = { tell() {}, signal: AbortSignal.abort() };
  await expect(operations.applyConfiguration({ ...request, plan }, gone)).rejects.toThrow(
    /^Nothing was changed/,
  );
  const steps: unknown[] = [];
  await operations.applyConfiguration(
    { ...request, plan },
    { ...UNWATCHED, tell: (step) => void steps.push(step) },
  );
  expect(steps).toEqual([
    { done: 1, total: 2 },
    { done: 2, total: 2 },
  ]);
  const { keys, returnPath } = await operations.domain({ name: 'example.com' });
  expect(keys.map(({ algorithm, state }) => [algorithm, state])).toEqual([
    ['ed25519-sha256', 'signing'],
    ['rsa-sha256', 'waiting'],
    ['ed25519-sha256', 'waiting'],
  ]);
  expect(returnPath).toEqual({ domain: 'bounces.example.com', state: 'waiting' });
  expect(await changes({ domains })).toEqual([]);
});

test('a domain with as many keys as it may have is refused new ones by the plan', async () => {
  await apply({ domains: [{ name: 'example.com', algorithm: 'ed25519' }] });
  for (let made = 1; made < MAX_DOMAIN_KEYS; made++)
    await operations.rotateDomain({ name: 'example.com', algorithm: null, selector: null, now: true });
  await expect(changes({ domains: [{ name: 'example.com', algorithm: 'rsa' }] })).rejects.toThrow(
    'domains example.com: example.com has 20 keys',
  );
});

test('what names a faulty relay or key is no fault beside it', async () => {
  const configuration = {
    relays: [{ name: 'main', type: 'smtp', host: 'a.example', prot: 25 }],
    routes: [
      { name: 'news', match: { tag: ['news'] }, via: ['main'] },
      { name: 'others', match: { tag: ['x'] }, via: ['mian'] },
    ],
    keys: [{ name: 'shop', scopes: ['admn'] }],
    webhooks: [{ url: URL, key: 'shop' }],
  };
  const refusal = await operations
    .planConfiguration({ configuration })
    .catch((error: Error) => error.message);
  expect(String(refusal).split('\n')).toEqual([
    expect.stringContaining('prot: no such field; did you mean port?'),
    expect.stringContaining('no such relay; did you mean main?'),
    expect.stringContaining('keys[0]: scopes.0: '),
  ]);
});

test('a template is compared with what is published: a draft that is newer stays out of it', async () => {
  const template = { alias: 'welcome', subject: 'Hello', text: 'Hello.' };
  await apply({ templates: [template] });
  const draft = {
    alias: 'welcome',
    name: 'welcome',
    subject: 'Draft',
    html: null,
    text: 'Draft.',
    basedOn: 1,
  };
  await operations.saveTemplate(draft);
  expect(await changes({ templates: [template] })).toEqual([]);
  await apply({ templates: [{ ...template, text: 'Hello!' }] });
  expect(await operations.template({ alias: 'welcome' })).toMatchObject({
    version: 3,
    publishedVersion: 3,
    text: 'Hello!',
  });
});

test('a relay keeps its secret only where it is sent to the same place', async () => {
  const relay = { name: 'main', type: 'smtp', host: 'a.example', username: 'u', password_file: 'p' };
  const delivery = { default_relay: 'main' };
  await expect(changes({ relays: [relay], delivery })).rejects.toThrow(
    'relays[0]: password_file: p must be there, as the relay main has no password yet',
  );
  await apply({ relays: [relay], delivery }, { p: 'hunter2' });
  const moved = { relays: [{ ...relay, host: 'b.example' }] };
  await expect(changes(moved)).rejects.toThrow(/^relays main: Give the password or secret again[^\n]*$/);
  expect(await changes(moved, { p: 'hunter2' })).toMatchObject([
    { fields: [{ field: 'host', after: 'b.example' }] },
  ]);
});

test('of two secrets of a provider, one alone is given anew', async () => {
  const relay = { name: 'api', type: 'resend', secret_file: 's', webhook_secret_file: 'w' };
  const delivery = { default_relay: 'api' };
  await apply({ relays: [relay], delivery }, { s: 're_key', w: SECRET });
  const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
  const [change] = await changes({ relays: [relay] }, { w: other });
  expect(change?.fields.map(({ field }) => field)).toEqual(['webhook_secret']);
  await apply({ relays: [relay] }, { w: other });
  expect(await changes({ relays: [relay] }, { s: 're_key', w: other })).toEqual([]);
});

test('nothing goes without --prune, and the plan says what stays', async () => {
  const relays = ['a', 'b'].map((name) => ({ name, type: 'smtp', host: `${name}.example` }));
  await apply({ relays, delivery: { default_relay: 'a' } });
  const configuration = { relays: relays.slice(0, 1) };
  const { changes: planned, left } = await operations.planConfiguration({ configuration });
  expect([planned, left]).toEqual([[], [{ section: 'relays', name: 'b' }]]);
  await apply(configuration);
  expect((await operations.relays({})).map(({ name }) => name)).toEqual(['inbox', 'a', 'b']);
  expect(await changes(configuration, {}, true)).toMatchObject([{ action: 'remove', name: 'b' }]);
});

test('relays go only once nothing needs them, and rules only with --prune', async () => {
  const relays = ['a', 'b'].map((name) => ({ name, type: 'smtp', host: `${name}.example` }));
  const routes = [{ name: 'r', match: { tag: ['x'] }, via: ['b'] }];
  await apply({ relays, delivery: { default_relay: 'a' }, routes });
  const less = { relays: relays.slice(0, 1) };
  await expect(changes(less, {}, true)).rejects.toThrow('Routing rules send mail through the relay b: r.');
  await expect(changes({ routes: [] })).rejects.toThrow(
    'would lose the rules r; declare them, or use --prune',
  );
  await expect(changes({ relays: relays.slice(1) }, {}, true)).rejects.toThrow('delivery.default_relay');
  await apply({ ...less, routes: [] }, {}, true);
  expect((await operations.relays({})).map(({ name }) => name)).toEqual(['inbox', 'a']);
});

test('an export is bounded', async () => {
  // Bytes count, and each of these is two.
  const text = 'ä'.repeat(250 * 1024);
  for (let n = 0; n < 34; n++)
    await operations.saveTemplate({
      alias: `t${n}`,
      name: 't',
      subject: 's',
      html: null,
      text,
      basedOn: null,
    });
  await expect(operations.exportConfiguration({})).rejects.toThrow('Export fewer sections');
  expect((await operations.exportConfiguration({ sections: ['keys'] })).configuration).toEqual({ keys: [] });
});
