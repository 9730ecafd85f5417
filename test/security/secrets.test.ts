/**
 * No secret that a run of the whole service used can be read anywhere but where it belongs: not in what it prints, answers,
 * measures, sends and stores, nor in its backups, whatever went wrong meanwhile.
 */
import { createPrivateKey, randomBytes } from 'node:crypto';
import { cpSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test, vi } from 'vitest';
import { openDomains } from '../../src/config/domains.ts';
import { createVault, loadKey } from '../../src/config/secrets.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { underFault } from '../crash/under-fault.ts';
import { describeWith } from '../peers/need.ts';
import { ProviderApi } from '../peers/provider-api.ts';
import type { RunningServer } from '../peers/server.ts';
import { tell } from '../support/proof.ts';
import {
  administer,
  makeKeys,
  OWN_FILES,
  PRIVATE_RELAYS,
  refuseOperations,
  storeRelays,
  useApi,
  useHooks,
  useSmtp,
  useTemplates,
  useWebhooks,
} from './secrets-acts.ts';
import { useAlerts } from './secrets-alerts.ts';
import { claim, inviteUser, listen, lookAround, shareStory } from './secrets-people.ts';
import { repeatAloud, runCommand, type SecretsWorld, startSecretsWorld } from './secrets-world.ts';
import { spyOnPrograms } from './spied-programs.ts';

function configuration({ hop, folder }: Omit<SecretsWorld, 'server'>): string {
  const password = join(folder, 'password-of-the-relay-in-the-file');
  return `
log: { level: debug, addresses: full }
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"], allowed_cidrs: ["192.0.2.0/24"] }
delivery: { default_relay: out, private_relays: ${JSON.stringify(PRIVATE_RELAYS)}, report_relay: inbox }
webhooks: { private_urls: ["*"] }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
relays:
  - { name: out, type: smtp, host: 127.0.0.1, port: ${hop.port}, verify: false, username: relay-user, password_file: ${password} }
`;
}

/** Some of the places that must have been looked at. */
const PLACES = [
  'log',
  'events',
  'mail',
  'smtp answers',
  'process: cmdline',
  'process: programs it ran',
  'backup: open.tar',
  'backup: sealed.tar',
  'restored: waybill.db',
  'data: waybill.db',
  'data: runtime.json',
  'dashboard: /health',
  'dashboard: /metrics',
  'dashboard: /api/call/activity',
  'dashboard: /api/call/logTail',
  'dashboard: /api/export?format=csv',
  'api: POST /api/v1/messages',
  'api: on a failing disk',
  'commands: serve',
  'commands: doctor',
  'commands: alerts test chat',
  'commands: relays test graph',
  'commands: revoke by the secret',
];

/** Starts the run's service. `tokens` are those that a provider has given it; `spied`, what programs that it ran were given. */
async function start(
  context: TestContext,
): Promise<{ world: SecretsWorld; tokens: readonly string[]; spied: string }> {
  const tokens: string[] = [];
  const giveToken = () => {
    const token = randomBytes(24).toString('base64url');
    tokens.push(token);
    return token;
  };
  const provider = await ProviderApi.start({ answer: repeatAloud(giveToken) });
  const told = { spied: '' };
  const world = await startSecretsWorld((peers) => {
    told.spied = spyOnPrograms(peers.installation, context);
    return configuration(peers);
  }, provider);
  context.onTestFinished(() => world.end());
  return { world, tokens, ...told };
}

/** Reads the signing keys of domains, as only the owner of the data directory can. */
async function addSigningKeys({ installation, folder, book }: SecretsWorld): Promise<void> {
  const copy = join(folder, 'copy');
  cpSync(installation.dataDir, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  const { store, registry } = openSqlite(join(copy, 'waybill.db'));
  const vault = createVault(loadKey(join(copy, 'secret.key'), systemRandom, false), systemRandom);
  const keys = openDomains(await registry.domains(), vault).domains.flatMap((domain) => domain.keys);
  await store.close();
  expect(keys.length).toBe(2);
  for (const { selector, privateKey } of keys) {
    const der = Buffer.from(privateKey ?? '', 'base64');
    book.addPrivateKey(
      `signing key ${selector}`,
      createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    );
  }
}

/** Adds the secrets that the server made for itself, and what its process is known by to others on the machine. */
function addOwnSecrets(
  { book, installation: { dataDir }, traces }: SecretsWorld,
  server: RunningServer,
): void {
  book.add('key that seals secrets', readFileSync(join(dataDir, 'secret.key'), 'utf8').trim());
  book.addPrivateKey('key of its own certificate', readFileSync(join(dataDir, 'tls.key'), 'utf8'));
  for (const file of ['cmdline', 'environ', 'status'])
    traces.add(`process: ${file}`, readFileSync(`/proc/${server.runtime.pid}/${file}`));
}

/** What a server printed. The link that claims it is printed for whoever starts it, once. */
function keepOutput({ traces }: SecretsWorld, server: RunningServer, link: string): void {
  const pieces = link === '' ? [server.output] : server.output.split(link);
  expect(pieces.length, 'the link is printed once').toBe(link === '' ? 1 : 2);
  for (const piece of pieces) traces.add('log', piece);
}

/** Starts again under another key, on a disk that fails, and with a configuration that has secrets in the wrong places. */
async function goWrong(world: SecretsWorld, app: string): Promise<void> {
  const { installation, traces } = world;
  const key = join(installation.dataDir, 'secret.key');
  renameSync(key, join(world.folder, 'secret.key'));
  const stranger = await installation.start();
  await runCommand(world, ['doctor']);
  await runCommand(world, ['relays', 'list']);
  await stranger.end('SIGTERM');
  keepOutput(world, stranger, '');
  rmSync(key);
  renameSync(join(world.folder, 'secret.key'), key);
  const ill = await installation.start(underFault('fdatasync:error=EIO:when=2+'));
  const headers = { authorization: `Bearer ${app}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ from: 'a@example.com', to: 'b@out.test', text: 'hi' });
  const send = () =>
    fetch(`${ill.api}/api/v1/messages`, { method: 'POST', headers, body }).then(
      (answer) => answer.text(),
      String,
    );
  let ended = false;
  void ill.exited.then(() => {
    ended = true;
  });
  await vi.waitFor(
    async () => {
      traces.add('api: on a failing disk', await send());
      expect(ended).toBe(true);
    },
    { timeout: 180_000 },
  );
  expect(await ill.exited).toBe(74);
  keepOutput(world, ill, '');
  const misplaced = world.secret('secret in the wrong place of the file', 'plain');
  installation.configure(`
api: { key: ${misplaced} }
database: { url: "postgres//user:${misplaced}@127.0.0.1/mail" }
tls: { key_file: ${join(world.folder, 'password-of-the-relay-in-the-file')}, cert_file: ${key} }
relays:
  - { name: out, type: smtp, host: 127.0.0.1, pasword: ${misplaced}, password: { x: ${misplaced} } }
  - { name: hook, type: webhook, url: "https://u:${misplaced}@example.com/", secret: "whsec_${misplaced}" }
`);
  for (const command of [['serve'], ['config'], ['doctor']]) await runCommand(world, command);
  installation.configure(`relays: [{ name: out, password: "${misplaced}`);
  await runCommand(world, ['config']);
}

describeWith(['strace'], 'secrets', () => {
  test('no secret of a run can be read in what it printed, answered, sent, measured or stored', {
    timeout: 600_000,
  }, async (context) => {
    const { world, tokens, spied } = await start(context);
    const { server, installation, traces, book, operations } = world;
    await server.printed(/ {2}Data {12}/);
    const link = book.add('link that claims', /setup#([\w-]{43})/.exec(server.output)?.[1] ?? '');
    const admin = await claim(world, link);
    const stop = await listen(world, admin);
    const keys = await makeKeys(world);
    await storeRelays(world);
    const feedback = await useHooks(world);
    await useTemplates(world);
    const webhook = await useWebhooks(world);
    await useAlerts(world);
    await refuseOperations(world, keys);
    await inviteUser(world, admin);
    await administer(world);
    const ids = await useApi(world, keys);
    await useSmtp(world, keys, context);
    await shareStory(world, admin, ids[0] ?? '');
    await vi.waitFor(
      async () => {
        for (const id of ids)
          expect((await operations.attempts({ id, cursor: null })).attempts.length).toBeGreaterThan(0);
      },
      { timeout: 180_000 },
    );
    const unseen = await lookAround(world, admin, ids, feedback, webhook);
    stop();
    addOwnSecrets(world, server);
    traces.addFiles('data', installation.dataDir, OWN_FILES);
    await addSigningKeys(world);
    await server.end('SIGKILL');
    keepOutput(world, server, link);
    await goWrong(world, keys.app);
    traces.addFiles('data in the end', installation.dataDir, [...OWN_FILES, 'waybill.yaml']);
    traces.add('process: programs it ran', readFileSync(spied));
    for (const [index, token] of tokens.entries()) book.add(`token ${index} of the provider`, token);
    for (const message of world.hop.messages) traces.add('mail', message.content);
    expect(traces.leaks(book)).toEqual([]);
    expect(unseen, 'operations that could not be asked').toEqual([]);
    expect(traces.places).toEqual(expect.arrayContaining(PLACES));
    expect(tokens.length).toBeGreaterThan(0);
    tell('secrets of a run of the whole service', {
      secrets: book.names.length,
      places: traces.places.length,
      'given away': 0,
    });
  });
});
