import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiKey } from '../../test/contract/store/fixtures.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { storedEndpoint } from '../../test/support/webhooks.ts';
import { createVault } from '../config/secrets.ts';
import type { FileWebhook } from '../config/settings-webhooks.ts';
import { signingSecrets } from '../config/webhook-secrets.ts';
import { HEALTHY } from '../domain/webhook.ts';
import type { Log } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import { openSqlite, type SqliteStores } from '../store/sqlite/open.ts';
import { fileWebhooks } from './file-webhooks.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const MINUTE = 60_000;

let folder: string;
let stores: SqliteStores;
let clock: ManualClock;
let endpoints: readonly FileWebhook[];
let errors: string[];
let takeOver: () => Promise<void>;
const vault = createVault(new Uint8Array(32), seededRandom(1));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-file-webhooks-'));
  stores = openSqlite(':memory:');
  clock = new ManualClock();
  endpoints = [];
  errors = [];
  const log = { error: (_: string, { message }: { message: string }) => void errors.push(message) };
  // Of the log nothing else is used.
  takeOver = fileWebhooks({
    ...stores,
    clock,
    log: log as unknown as Log,
    inForce: () => ({ endpoints, vault }),
  });
});
afterEach(async () => {
  await stores.store.close();
  rmSync(folder, { recursive: true });
});

function webhook(change: Partial<FileWebhook> = {}): FileWebhook {
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, `${SECRET}\n`);
  return {
    name: 'shop',
    url: 'https://shop.example.com/waybill',
    secretFile,
    types: ['message.*'],
    keys: [],
    tags: [],
    description: '',
    includesSubject: false,
    enabled: true,
    allowPrivate: false,
    ...change,
  };
}
const kept = () => stores.webhooks.webhookEndpoints();
const secretOf = async () => {
  const [one] = await kept();
  return one && signingSecrets(one.secrets, one.endpoint.id, vault, clock.wall())?.[0];
};

test('endpoints of the file are kept with an id of their name, changed with it, and removed with it', async () => {
  const own = storedEndpoint({ keyId: null });
  await stores.webhooks.addWebhookEndpoint(own, { ofKey: 9, all: 9 });
  endpoints = [webhook()];
  await takeOver();
  const [first] = (await kept()).filter(({ endpoint }) => endpoint.inFile !== null);
  expect(first?.endpoint).toMatchObject({
    id: expect.stringMatching(/^whe_[0-9a-hjkmnp-tv-z]{26}$/),
    inFile: 'shop',
    keyId: null,
    url: 'https://shop.example.com/waybill',
    headers: {},
  });
  const id = first?.endpoint.id ?? '';
  const failing = { ...HEALTHY, state: 'failing', failures: 12 } as const;
  await stores.webhooks.setWebhookHealth(id, failing, 0);
  await clock.advance(5);
  endpoints = [webhook({ types: ['message.bounced'] })];
  await takeOver();
  expect((await kept()).find(({ endpoint }) => endpoint.id === id)).toMatchObject({
    endpoint: { types: ['message.bounced'], createdAt: first?.endpoint.createdAt, updatedAt: clock.wall() },
    health: failing,
  });
  endpoints = [];
  await takeOver();
  expect((await kept()).map(({ endpoint }) => endpoint.id)).toEqual([own.endpoint.id]);
});

test('a secret that changes in its file signs from the next minute on', async () => {
  endpoints = [webhook()];
  await takeOver();
  expect(await secretOf()).toBe(SECRET);
  writeFileSync(join(folder, 'secret'), OTHER);
  await takeOver();
  expect(await secretOf()).toBe(SECRET);
  await clock.advance(MINUTE);
  await takeOver();
  expect(await secretOf()).toBe(OTHER);
});

test('names of keys are ids once there is such a key; until then it is told of nothing', async () => {
  endpoints = [webhook({ keys: ['shop'] })];
  await takeOver();
  expect((await kept())[0]?.endpoint.keys).toEqual(['shop']);
  await stores.keyring.create(apiKey('key_shop', { name: 'shop' }), 'hash');
  await clock.advance(MINUTE);
  await takeOver();
  expect((await kept())[0]?.endpoint.keys).toEqual(['key_shop']);
});

test('what is wrong with a secret is said once, and the others are taken over', async () => {
  const none = join(folder, 'none');
  const short = join(folder, 'short');
  writeFileSync(short, 'whsec_c2hvcnQ=');
  endpoints = [
    webhook({ name: 'a', secretFile: none }),
    webhook({ name: 'b', secretFile: short }),
    webhook(),
  ];
  await takeOver();
  await clock.advance(MINUTE);
  await takeOver();
  expect(errors).toEqual([
    expect.stringMatching(`^${none} cannot be read: `),
    `${short} must hold whsec_ and the base64 of 24 to 64 bytes.`,
  ]);
  expect((await kept()).map(({ endpoint }) => endpoint.inFile)).toEqual(['shop']);
});
