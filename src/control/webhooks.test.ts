import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiKey, at, message, T0 } from '../../test/contract/store/fixtures.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { tryOf } from '../../test/support/webhooks.ts';
import { createVault } from '../config/secrets.ts';
import { signingSecrets } from '../config/webhook-secrets.ts';
import { HEALTHY } from '../domain/webhook.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import type { WebhookDeps } from './webhook-view.ts';
import { webhookOperations } from './webhooks.ts';

const DAY = 86_400_000;
const URL_TAKEN = 'https://shop.example.com/waybill';
const PRIVATE = 'http://10.0.0.5:8080/told';

let stores: SqliteStores;
let clock: ManualClock;
/** Of the file. */
let endpoints: readonly object[];
let operations: ReturnType<typeof webhookOperations>;
const vault = createVault(new Uint8Array(32), seededRandom(1));

beforeEach(() => {
  stores = openSqlite(':memory:');
  clock = new ManualClock();
  endpoints = [];
  const resolution = () => ({ config: { webhooks: { privateUrls: [PRIVATE], endpoints } }, vault });
  // Of the configuration nothing else is read.
  const deps = {
    ...stores,
    clock,
    random: seededRandom(2),
    server: () => null,
    resolution,
    maxReplayed: 1_500,
  } as unknown as WebhookDeps;
  operations = webhookOperations(deps);
});
afterEach(() => stores.store.close());

test.each([
  ['a URL that is none', { url: 'shop' }, 'url: Must be a URL'],
  ['plain HTTP', { url: 'http://shop.example.com/' }, 'url: Must begin with https://'],
  ['a URL with a user', { url: 'https://a:b@shop.example.com/' }, 'url: Must be a URL'],
  ['a URL with a fragment', { url: 'https://shop.example.com/#a' }, 'url: Must be a URL'],
  ['a type that is none', { types: ['message.read'] }, 'types/0: Must be a type'],
  ['a pattern of nothing', { types: ['mail.*'] }, 'types/0: Must be a type'],
  ['a key that is none', { keys: ['nobody'] }, 'keys/0: There is no key nobody.'],
  [
    'six headers',
    { headers: { a: '', b: '', c: '', d: '', e: '', f: '' } },
    'headers: There may be at most 5',
  ],
  ['a header of ours', { headers: { Host: 'a' } }, 'headers/Host: This header cannot be set.'],
  [
    'a header of signatures',
    { headers: { 'Webhook-Id': 'a' } },
    'headers/Webhook-Id: This header cannot be set.',
  ],
  ['a header with a line break', { headers: { 'X-A': 'a\r\nb' } }, 'headers/X-A: Must be at most'],
  ['a long header', { headers: { 'X-A': 'a'.repeat(1001) } }, 'headers/X-A: Must be at most'],
])('%s is refused by name', async (_, change, message) => {
  await expect(operations.addWebhook({ url: URL_TAKEN, ...change })).rejects.toThrow(message);
  expect((await operations.listWebhooks({})).webhooks).toEqual([]);
});

test('an endpoint is shown without its secret, which signs beside the next one for a day', async () => {
  const headers = { Authorization: 'Bearer x' };
  const { webhook, secret } = await operations.addWebhook({
    url: URL_TAKEN,
    headers,
    description: 'a\u0000b',
  });
  expect((await operations.listWebhooks({})).webhooks).toEqual([webhook]);
  expect(JSON.stringify(webhook)).not.toContain(secret);
  const { secret: next } = await operations.rotateWebhook({ which: webhook.id });
  const signs = async () => {
    const [stored] = await stores.webhooks.webhookEndpoints();
    return signingSecrets(stored?.secrets ?? '', webhook.id, vault, clock.wall());
  };
  expect(await signs()).toEqual([next, secret]);
  await clock.advance(DAY);
  expect(await signs()).toEqual([next]);
  const other = createVault(new Uint8Array(32).fill(1), seededRandom(1));
  expect(
    signingSecrets((await stores.webhooks.webhookEndpoints())[0]?.secrets ?? '', webhook.id, other, 0),
  ).toBeNull();
});

test('a private URL is taken where the operator has listed it, and no other', async () => {
  expect((await operations.addWebhook({ url: PRIVATE })).webhook.url).toBe(PRIVATE);
  await expect(operations.addWebhook({ url: `${PRIVATE}/more` })).rejects.toThrow('webhooks.private_urls');
});

test('an endpoint of the file is shown, enabled and told again, and changed in the file alone', async () => {
  const { webhook } = await operations.addWebhook({ url: URL_TAKEN });
  const [stored] = await stores.webhooks.webhookEndpoints();
  if (stored === undefined) throw new Error('no endpoint');
  const which = webhook.id;
  const { endpoint, secrets } = stored;
  await stores.webhooks.changeWebhookEndpoint({ ...endpoint, inFile: 'shop' }, secrets);
  for (const refused of [
    operations.changeWebhook({ which, description: 'mine' }),
    operations.changeWebhook({ which, enabled: true, tags: [] }),
    operations.changeWebhook({ which, enabled: false }),
    operations.removeWebhook({ which }),
    operations.rotateWebhook({ which }),
  ])
    await expect(refused).rejects.toThrow('The webhook shop stands in the configuration file');
  await stores.webhooks.setWebhookHealth(which, { ...HEALTHY, state: 'disabled' }, 0);
  expect(await operations.changeWebhook({ which, enabled: true })).toMatchObject({
    source: 'file',
    health: { state: 'healthy' },
  });
  await stores.webhooks.changeWebhookEndpoint({ ...endpoint, inFile: 'shop', enabled: false }, secrets);
  await expect(operations.changeWebhook({ which, enabled: true })).rejects.toThrow('change it there');
});

test('there are so many endpoints at most', async () => {
  for (let n = 0; n < 200; n++) await operations.addWebhook({ url: URL_TAKEN });
  await expect(operations.addWebhook({ url: URL_TAKEN })).rejects.toThrow('There may be 200 webhooks in all');
});

test('a replay tells of so many events at most, and says where to stop first', async () => {
  const { webhook } = await operations.addWebhook({ url: URL_TAKEN });
  const which = webhook.id;
  const since = formatTimestamp(T0);
  for (let n = 0; n < 8; n++)
    await stores.store.accept(
      Array.from({ length: 200 }, () => message()),
      at(n * 1_000),
    );
  const refused = operations.replayWebhook({ which, since, only: 'all' });
  await expect(refused).rejects.toThrow(
    'These are more than 1500 events. Replay a shorter time first: until ',
  );
  const until = await refused.catch((error: Error) => error.message.replace(/^.*until (.*)\.$/, '$1'));
  const first = await operations.replayWebhook({ which, since, until: String(until), only: 'all' });
  const rest = await operations.replayWebhook({ which, since: String(until), only: 'all' });
  expect([first.replayed, rest.replayed, first.replayed + rest.replayed]).toEqual([1_000, 600, 1_600]);
});

test('a replay of what failed does not wait for the next try, and leaves alone what was not tried yet', async () => {
  const { webhook } = await operations.addWebhook({ url: URL_TAKEN });
  const which = webhook.id;
  const since = formatTimestamp(T0);
  await stores.store.accept([message(), message(), message()], at());
  await operations.replayWebhook({ which, since, only: 'all' });
  const [third, second] = (await operations.webhookDeliveries({ which })).deliveries;
  if (second === undefined || third === undefined) throw new Error('no deliveries');
  const { webhooks } = stores;
  const one = tryOf({ status: 500 });
  const later = clock.wall() + 3_600_000;
  const failed = {
    endpoint: which,
    sequence: second.sequence,
    attempts: 0,
    one,
    nextTryAt: later,
    state: 'pending',
  } as const;
  await webhooks.settleDelivery(failed);
  await webhooks.settleDelivery({
    ...failed,
    sequence: third.sequence,
    one: tryOf(),
    nextTryAt: null,
    state: 'delivered',
  });
  expect(await operations.replayWebhook({ which, since })).toEqual({ replayed: 1 });
  expect((await operations.webhookDeliveries({ which, status: 'pending' })).deliveries).toMatchObject([
    { sequence: second.sequence, tries: [{ status: 500 }], nextTryAt: formatTimestamp(clock.wall()) },
    { tries: [] },
  ]);
});

test('a failing endpoint is tried with its oldest event first, which hurries with what is told again', async () => {
  const { webhook } = await operations.addWebhook({ url: URL_TAKEN });
  const which = webhook.id;
  await stores.store.accept([message(), message()], at());
  await operations.replayWebhook({ which, since: formatTimestamp(T0), only: 'all' });
  const [newest, oldest] = (await operations.webhookDeliveries({ which })).deliveries;
  if (newest === undefined || oldest === undefined) throw new Error('no deliveries');
  const later = clock.wall() + DAY;
  for (const { sequence } of [newest, oldest])
    await stores.webhooks.settleDelivery({
      endpoint: which,
      sequence,
      attempts: 0,
      one: tryOf({ status: 500 }),
      state: 'pending',
      nextTryAt: later,
    });
  const failing = { ...HEALTHY, state: 'failing', failures: 12 } as const;
  await stores.webhooks.setWebhookHealth(which, failing, clock.wall());
  await operations.retryWebhookDelivery({ which, eventId: newest.eventId });
  const due = await stores.webhooks.dueDeliveries(which, clock.wall(), 9);
  expect(due.map(({ sequence }) => sequence)).toEqual([oldest.sequence, newest.sequence]);
});

test('a change that overlaps a rotation leaves the new secret in force', async () => {
  const { webhook } = await operations.addWebhook({ url: URL_TAKEN });
  const which = webhook.id;
  const [{ secret }] = await Promise.all([
    operations.rotateWebhook({ which }),
    operations.changeWebhook({ which, description: 'changed' }),
  ]);
  const [stored] = await stores.webhooks.webhookEndpoints();
  expect(signingSecrets(stored?.secrets ?? '', which, vault, clock.wall())?.[0]).toBe(secret);
});

test('what a row of the file may reach, no other endpoint may', async () => {
  const url = 'http://10.0.0.9/hook';
  endpoints = [{ name: 'shop', url, allowPrivate: true }];
  await expect(operations.addWebhook({ url })).rejects.toThrow('Must begin with https://');
});

test('an endpoint is not enabled once its key has ended', async () => {
  await stores.keyring.create(apiKey('key_shop', { name: 'shop', scopes: ['webhooks:manage'] }), 'hash');
  const { webhook } = await operations.addWebhook({ url: URL_TAKEN, as: 'key_shop' });
  await stores.keyring.revoke('key_shop', clock.wall());
  const enabled = operations.changeWebhook({ which: webhook.id, enabled: true });
  await expect(enabled).rejects.toThrow('is revoked or has expired');
});

test('what does not exist is named', async () => {
  const which = 'whe_none';
  for (const asked of [
    operations.changeWebhook({ which, enabled: true }),
    operations.removeWebhook({ which }),
    operations.rotateWebhook({ which }),
    operations.webhookDeliveries({ which }),
    operations.replayWebhook({ which, since: '2026-11-20T00:00:00Z' }),
  ])
    await expect(asked).rejects.toThrow('There is no webhook whe_none.');
});
