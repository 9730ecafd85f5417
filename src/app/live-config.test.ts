import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { loadConfig, NOTHING_STORED } from '../config/load.ts';
import { type Log, silentLog } from '../lib/log.ts';
import { seededRandom } from '../lib/random.ts';
import { LiveConfig, signInTerms } from './live-config.ts';

const ONE_MORE = new Map([['api.max_recipients', '7']]);

/** A configuration, of a file too, over a store that other nodes change, and that a test takes away. */
function setUp(yaml = '') {
  const dataDir = mkdtempSync(join(tmpdir(), 'waybill-live-'));
  const file = join(dataDir, 'waybill.yaml');
  if (yaml !== '') writeFileSync(file, yaml);
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const clock = new ManualClock();
  const store = { revision: 1, stored: NOTHING_STORED, isAway: false };
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (event) => void warnings.push(event) };
  const sources = { dataDir, environment: {}, random: seededRandom(1) };
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const live = new LiveConfig({
    ...sources,
    clock,
    log,
    firstRevision: 1,
    signal: ended.signal,
    first: { ...loadConfig({ ...sources, stored: NOTHING_STORED }), routesVersion: 2 },
    stored: async () => store.stored,
    revision: async () => {
      if (store.isAway) throw new Error('away');
      return store.revision;
    },
    publish: async () => 2,
    onChange: async () => {},
  });
  void live.watch();
  return { clock, store, live, warnings, file };
}

test('what another node has stored is in force within a second', async () => {
  const { clock, store, live } = setUp();
  store.stored = { ...NOTHING_STORED, settings: ONE_MORE };
  await clock.advance(1_000);
  expect(live.config.api.maxRecipients).toBe(1000);
  store.revision = 2;
  await clock.advance(1_000);
  expect(live.config.api.maxRecipients).toBe(7);
});

test('a store that is away is logged once each time, and read when it is back', async () => {
  const { clock, store, live, warnings } = setUp();
  for (const maxRecipients of ['7', '8']) {
    store.isAway = true;
    await clock.advance(60_000);
    store.stored = { ...NOTHING_STORED, settings: new Map([['api.max_recipients', maxRecipients]]) };
    store.revision += 1;
    store.isAway = false;
    await clock.advance(1_000);
    expect(live.config.api.maxRecipients).toBe(Number(maxRecipients));
  }
  expect(warnings).toEqual(['config.not_reloaded', 'config.not_reloaded']);
});

test.each([
  ['', ['is missing or empty now; restart the server to run without it']],
  ['api: { porty: 1 }', ['no such setting; did you mean api.port?']],
])('a file that says %o now is told what is wrong with it, and nothing else', async (yaml, rules) => {
  const { live, file } = setUp('api: { max_recipients: 7 }');
  writeFileSync(file, yaml);
  expect((await live.reload()).map(({ rule }) => rule)).toEqual(rules);
  expect(live.config.api.maxRecipients).toBe(7);
});

test('the identity provider is another one once its settings are, and the same after any other change', async () => {
  const oidc = (name: string) =>
    `sign_in: { oidc: { issuer: "https://sso.example", client_id: w, name: ${name} } }`;
  const { live, file, clock } = setUp(oidc('One'));
  const { provider } = signInTerms(live, clock);
  const first = provider();
  expect(first?.name).toBe('One');
  writeFileSync(file, `${oidc('One')}\napi: { max_recipients: 7 }`);
  expect(await live.reload()).toEqual([]);
  expect(live.config.api.maxRecipients).toBe(7);
  expect(provider()).toBe(first);
  writeFileSync(file, oidc('Two'));
  expect(await live.reload()).toEqual([]);
  expect(provider()?.name).toBe('Two');
  expect(provider()).not.toBe(first);
  writeFileSync(file, 'api: { max_recipients: 7 }');
  expect(await live.reload()).toEqual([]);
  expect(provider()).toBeNull();
});
