/** What is done to a service that has many secrets: what goes well, and above all what goes wrong. */

import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { RequestOf } from '../../src/operations/table.ts';
import { createCertificate } from '../peers/certificate.ts';
import { Installation } from '../peers/server.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { askApi, runCommand, type SecretsWorld } from './secrets-world.ts';

/** API keys of a run. */
export interface Keys {
  readonly app: string;
  readonly admin: string;
}

/** Files of a data directory that are secrets themselves. */
export const OWN_FILES = ['secret.key', 'tls.key', 'tls-uploaded.pem'];

/** Relays that are stored with a secret, and the domain whose mail each gets. */
const STORED: readonly { readonly name: string; readonly define: (url: string, port: number) => object }[] = [
  {
    name: 'smart',
    define: (_url, port) => ({ type: 'smtp', host: '127.0.0.1', port, verify: false, username: 'ann' }),
  },
  {
    name: 'ses',
    define: (endpoint) => ({
      type: 'ses',
      region: 'eu-west-1',
      access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      endpoint,
    }),
  },
  { name: 'mailgun', define: (endpoint) => ({ type: 'mailgun', domain: 'mg.example.com', endpoint }) },
  { name: 'postmark', define: (endpoint) => ({ type: 'postmark', endpoint: `${endpoint}/unwell` }) },
  { name: 'sendgrid', define: (endpoint) => ({ type: 'sendgrid', endpoint }) },
  { name: 'resend', define: (endpoint) => ({ type: 'resend', endpoint }) },
  {
    name: 'graph',
    define: (endpoint) => ({
      type: 'graph',
      tenant: 'example.com',
      client_id: '00000000-0000-4000-8000-000000000000',
      mailbox: 'sender@example.org',
      authority: endpoint,
      endpoint,
    }),
  },
  { name: 'webhook', define: (endpoint) => ({ type: 'webhook', url: `${endpoint}/hook` }) },
];

/** Names of relays that speak to providers on this machine. */
export const PRIVATE_RELAYS = STORED.map(({ name }) => name).filter((name) => name !== 'smart');

/** Makes keys, one with a second secret, and gives both their secrets to the book. */
export async function makeKeys({ operations, book }: SecretsWorld): Promise<Keys> {
  const make = async (name: string, scopes: RequestOf<'createKey'>['scopes'], test = false) => {
    const rest = { rateLimit: 0, expiresAt: null, cidrs: [], senderDomains: [] };
    const { secret } = await operations.createKey({ name, test, scopes, ...rest });
    return book.add(`key ${name}`, secret);
  };
  const app = await make('app', ['messages:send', 'messages:read', 'messages:content']);
  const admin = await make('admin', ['admin']);
  await make('trial', ['messages:send'], true);
  const scopes: RequestOf<'createKey'>['scopes'] = ['messages:send'];
  const rest = { test: false, rateLimit: 0, expiresAt: null, cidrs: [], senderDomains: [] };
  const { secret, signing } = await operations.createKey({ name: 'signs', scopes, ses: true, ...rest });
  book.add('key signs', secret);
  book.add('secret access key', signing?.secretAccessKey ?? '');
  book.add('second secret of the key app', (await operations.rotateKey({ key: 'app' })).secret);
  return { app, admin };
}

/** Stores relays with secrets, and rules by which each gets mail; and asks for it in every wrong way. */
export async function storeRelays(world: SecretsWorld): Promise<void> {
  const { operations, hop, provider, book, traces } = world;
  for (const { name, define } of STORED) {
    const definition = { name, ...define(provider.url, hop.port) };
    const secret =
      name === 'webhook'
        ? book.add('secret of webhook', `whsec_${randomBytes(24).toString('base64')}`)
        : world.secret(`secret of ${name}`, name === 'smart' ? 'awkward' : 'plain');
    await operations.addRelay({ definition, secret, makeDefault: false });
    const test = await operations.testRelay({ name, to: null, unsaved: null });
    traces.add(`commands: relays test ${name}`, JSON.stringify(test));
    const unsaved = { definition, secret: world.secret(`secret of ${name}, tried out`, 'plain') };
    traces.add(
      `commands: relays test ${name}, unsaved`,
      JSON.stringify(await operations.testRelay({ name, to: null, unsaved })),
    );
  }
  const routes = STORED.map(({ name }) => ({ match: { recipient_domain: `${name}.test` }, via: [name] }));
  await operations.publishRoutes({ routes });
}

/** Saves a template, for all that only look at one. */
export async function useTemplates({ operations }: SecretsWorld): Promise<void> {
  const texts = { subject: 'Hello', html: null, text: 'Hello {{name}}' };
  await operations.saveTemplate({ alias: 'welcome', name: 'Welcome', ...texts, basedOn: null });
}

/** Has an application told of events, at an address that may not be reached; gives the id of its endpoint. */
export async function useWebhooks({ operations, book }: SecretsWorld): Promise<string> {
  const { webhook, secret } = await operations.addWebhook({ url: 'https://127.0.0.1:9/told' });
  book.add('secret of an endpoint', secret);
  book.add('second secret of an endpoint', (await operations.rotateWebhook({ which: webhook.id })).secret);
  await operations.testWebhook({ which: webhook.id });
  return webhook.id;
}

/**
 * Gives the webhooks of a relay a password, and has them called by who knows the hook, and by who does not; then has
 * something told over the API. Gives its id.
 */
export async function useHooks(world: SecretsWorld): Promise<string> {
  const { operations, book, provider } = world;
  const password = world.secret('password of webhooks', 'plain');
  const definition = { type: 'postmark', endpoint: `${provider.url}/unwell`, webhook_username: 'hook' };
  await operations.updateRelay({ name: 'postmark', definition, secret: { webhook_secret: password } });
  const paths = [
    await operations.relayHook({ name: 'postmark' }),
    await operations.rotateRelayHook({ name: 'postmark' }),
  ];
  for (const [index, { url }] of paths.entries()) {
    const { pathname } = new URL(url.replace('<your-server>', 'server.example'));
    const token = book.add(`token ${index} of a hook`, pathname.slice(pathname.lastIndexOf('/') + 1));
    const authorization = `Basic ${Buffer.from(`hook:${password}`).toString('base64')}`;
    const event = { RecordType: 'Delivery', MessageID: 'x', Recipient: 'b@out.test' };
    for (const [path, headers, body] of [
      [pathname, { authorization }, JSON.stringify(event)],
      [pathname, { authorization }, JSON.stringify({ RecordType: 'Open', MessageID: token })],
      [pathname, { authorization }, `{"${password}"`],
      [pathname, { authorization: `${authorization}x` }, JSON.stringify(event)],
      [pathname, {}, '{}'],
      [`${pathname}/`, {}, '{}'],
      [`/hooks/none/${token}`, { authorization }, '{}'],
      [`/hooks/${token}/${token}`, { authorization }, '{}'],
      [`/hooks/postmark/${token}x`, { authorization }, JSON.stringify(event)],
    ] as const)
      await askApi(world, path, { method: 'POST', headers, body });
  }
  await operations.addSuppression({ address: 'b@stopped.test', scope: null, stream: null, expiresAt: null });
  const rest = { rateLimit: 0, expiresAt: null, cidrs: [], senderDomains: [] };
  const { secret } = await operations.createKey({
    name: 'teller',
    test: false,
    scopes: ['feedback:write'],
    ...rest,
  });
  book.add('key teller', secret);
  const { text } = await askApi(world, '/api/v1/feedback', {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'message/rfc822' },
    body: 'Subject: Undelivered\r\n\r\n550 5.1.1 no such user\r\n',
  });
  return (JSON.parse(text) as { readonly id: string }).id;
}

/** Asks for operations that cannot be done, with a secret in them; and for some, with a secret where none belongs. */
export async function refuseOperations(world: SecretsWorld, keys: Keys): Promise<void> {
  const { operations, traces } = world;
  const secret = world.secret('secret in a request that is refused');
  const pair = createCertificate({ hosts: ['mail.example'] });
  const other = createCertificate({ hosts: ['mail.example'] });
  world.book.addPrivateKey('key of a certificate that is refused', other.key);
  const bad = { name: 'bad', type: 'smtp', host: '127.0.0.1', port: 1 };
  const asked: readonly [string, () => Promise<unknown>][] = [
    [
      'password in a definition',
      () =>
        operations.addRelay({ definition: { ...bad, password: secret }, secret: null, makeDefault: false }),
    ],
    [
      'misspelt password',
      () =>
        operations.addRelay({ definition: { ...bad, pasword: secret }, secret: null, makeDefault: false }),
    ],
    [
      'wrong type',
      () => operations.addRelay({ definition: { ...bad, type: 'webhook' }, secret, makeDefault: false }),
    ],
    ['no such relay', () => operations.updateRelay({ name: 'none', definition: bad, secret })],
    [
      'another secret',
      () => operations.updateRelay({ name: 'mailgun', definition: { ...bad, name: 'mailgun' }, secret }),
    ],
    [
      'url with a password',
      () =>
        operations.addRelay({
          definition: {
            name: 'w',
            type: 'webhook',
            url: `https://u:${encodeURIComponent(secret)}@127.0.0.1/`,
          },
          secret,
          makeDefault: false,
        }),
    ],
    [
      'database in the settings',
      () =>
        operations.putSettings({
          values: { 'database.url': `postgres://u:${encodeURIComponent(secret)}@127.0.0.1/x` },
        }),
    ],
    ['no such setting', () => operations.putSettings({ values: { 'relay.password': secret } })],
    ['no such user', () => operations.resetPassword({ name: 'nobody', password: secret })],
    [
      'certificate of another key',
      () => operations.putCertificate({ certificate: pair.cert, key: other.key }),
    ],
    ['backup to nowhere', () => operations.backup({ file: '/nowhere/at/all.tar', passphrase: secret })],
  ];
  for (const [name, ask] of asked)
    traces.add(`commands: ${name}`, await ask().then((done) => JSON.stringify(done), String));
  // What people paste who mean to revoke a key: its secret, which works on where that was refused.
  const pasted = await operations.revokeKey({ key: keys.app }).then(() => '', String);
  traces.add('commands: revoke by the secret', pasted);
}

/** Sends mail by every relay, and asks in every wrong way. */
export async function useApi(world: SecretsWorld, { app, admin }: Keys): Promise<readonly string[]> {
  const json = { 'content-type': 'application/json' };
  const as = (authorization: string) => ({ ...json, authorization });
  const letter = (to: string) => JSON.stringify({ from: 'a@example.com', to, subject: 'Hello', text: 'hi' });
  const post = (body: string, headers: Record<string, string>) => ({ method: 'POST', headers, body });
  const ids: string[] = [];
  for (const to of ['b@out.test', 'nobody@out.test', ...STORED.map(({ name }) => `b@${name}.test`)]) {
    const { status, text } = await askApi(world, '/api/v1/messages', post(letter(to), as(`Bearer ${app}`)));
    if (status !== 202) throw new Error(`${status} ${text}`);
    ids.push((JSON.parse(text) as { readonly id: string }).id);
  }
  const unknown = world.secret('key that nobody has', 'plain');
  for (const authorization of [
    `Bearer ${unknown}`,
    `Bearer ${app}x`,
    `Basic ${app}`,
    app,
    `Bearer ${app} ${admin}`,
  ])
    await askApi(world, '/api/v1/messages', post(letter('b@out.test'), as(authorization)));
  for (const path of [
    `/api/v1/messages?key=${app}`,
    `/api/v1/messages/${app}`,
    `/api/v1/${app}`,
    `/v3/${app}/messages`,
  ])
    await askApi(world, path, { headers: as(`Bearer ${app}`) });
  await askApi(world, '/api/v1/messages', post(`{"from":"${app}"`, as(`Bearer ${app}`)));
  await askApi(
    world,
    '/api/v1/messages',
    post(JSON.stringify({ to: 'x', apiKey: app }), as(`Bearer ${app}`)),
  );
  await askApi(world, '/api/v1/messages', post(letter('b@out.test'), { ...json, 'x-api-key': app }));
  const basic = Buffer.from(`api:${unknown}`).toString('base64');
  await askApi(world, '/v3/example.com/messages', post(letter('b@out.test'), as(`Basic ${basic}`)));
  const secret = world.secret('secret given to the API of administrators');
  const definition = { name: 'x', type: 'smtp', host: '127.0.0.1', port: 1, pasword: secret };
  const relay = JSON.stringify({ definition, secret, makeDefault: false });
  await askApi(world, '/api/v1/admin/addRelay', post(relay, as(`Bearer ${admin}`)));
  await askApi(world, '/api/v1/admin/addRelay', post(relay.slice(0, -1), as(`Bearer ${admin}`)));
  await askApi(world, '/api/v1/admin/addRelay', post(relay, as(`Bearer ${app}`)));
  await askApi(world, '/api/v1/routes/explain?from=a@example.com&to=b@smart.test', {
    headers: as(`Bearer ${app}`),
  });
  return ids;
}

/** Speaks SMTP with keys: right, wrong, in the clear, and in the wrong place. */
export async function useSmtp(world: SecretsWorld, { app }: Keys, test: TestContext): Promise<void> {
  const { server, traces } = world;
  const wrong = world.secret('password given over SMTP');
  const plain = (password: string) => Buffer.from(`\0ann\0${password}`).toString('base64');
  const say = async (client: SmtpClient, line: string) => {
    client.say(line);
    traces.add('smtp answers', await client.reply());
  };
  const client = await SmtpClient.connect(server.runtime.smtp[0] ?? 0, { test });
  traces.add('smtp answers', await client.reply());
  await say(client, 'EHLO client.test');
  await say(client, `AUTH PLAIN ${plain(app)}`);
  await client.startTls();
  await say(client, 'EHLO client.test');
  for (const line of [
    `AUTH PLAIN ${plain(wrong)}`,
    `AUTH ${wrong}`,
    `PASS ${wrong}`,
    wrong,
    `MAIL FROM:<${wrong}>`,
  ])
    await say(client, line);
  await say(client, 'AUTH LOGIN');
  await say(client, Buffer.from('ann').toString('base64'));
  await say(client, Buffer.from(wrong).toString('base64'));
  await say(client, `AUTH PLAIN ${plain(app)}`);
  await say(client, 'MAIL FROM:<a@example.com>');
  await say(client, 'RCPT TO:<b@out.test>');
  await say(client, 'DATA');
  await say(client, 'Subject: Hello\r\n\r\nhi\r\n.');
  await say(client, 'QUIT');
}

/** Domains with signing keys, a certificate, backups; and what the commands say. */
export async function administer(world: SecretsWorld): Promise<void> {
  const { operations, folder, traces } = world;
  await operations.addDomain({ name: 'example.com', algorithm: 'both', selector: null });
  const pair = createCertificate({ hosts: ['mail.example', '127.0.0.1'] });
  world.book.addPrivateKey('key of the uploaded certificate', pair.key);
  await operations.putCertificate({ certificate: pair.cert, key: pair.key });
  const passphrase = world.secretFile('passphrase of the backup');
  const sealed = join(folder, 'sealed.tar');
  await runCommand(world, ['backup', sealed, '--passphrase-file', passphrase, '--json']);
  await runCommand(world, ['backup', join(folder, 'open.tar')]);
  for (const name of ['sealed.tar', 'open.tar'])
    traces.add(`backup: ${name}`, readFileSync(join(folder, name)));
  const wrong = world.secretFile('wrong passphrase of a backup');
  const restored = new Installation('');
  rmSync(join(restored.dataDir, 'waybill.yaml'));
  for (const file of [wrong, passphrase])
    await runCommand(world, ['restore', sealed, '--passphrase-file', file], '', restored);
  traces.addFiles('restored', restored.dataDir, OWN_FILES);
  restored.remove();
  const password = world.secret('password set by command');
  await runCommand(world, ['admin', 'reset-password', 'bob', '--stdin'], `${password}\n`);
  await runCommand(
    world,
    ['admin', 'reset-password', 'nobody', '--stdin'],
    `${world.secret('password for nobody')}\n`,
  );
  for (const command of ['config', 'doctor', 'relays show graph', 'domains show example.com'])
    await runCommand(world, command.split(' '));
}
