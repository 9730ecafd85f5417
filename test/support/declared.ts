import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Offline } from '../../src/control/offline.ts';
import { SCOPES } from '../../src/domain/key.ts';
import { Installation, type Running } from './installation.ts';

/** Whatever can be declared in a file (docs/configuration-as-code.md), with every field, and its way round. */

const name = fc
  .stringMatching(/^[a-z][a-z0-9_-]{0,8}$/)
  .filter((one) => !['inbox', 'default', 'manual', 'ambiguous'].includes(one));
const domain = name.map((label) => `${label.replaceAll('_', 'x').replace(/-+$/, '')}.example`);
/** Any text on one line: quotes, colons, other scripts, marks that turn its direction, tabs. */
const text = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .map((one) => one.replace(/[\p{Cs}\p{Cc}{}]/gu, '').normalize());
/** What ends a line, or may be taken for it, and what YAML gives a meaning. */
const ODD = [
  '\n',
  '\r\n',
  '\r',
  '\t',
  ' ',
  '\u0085',
  '\u2028',
  '\u200f',
  '\u202e',
  '\u001b[31m',
  '---\n',
  '# ',
  ': ',
  '- ',
];
const lines = fc
  .array(fc.oneof(text, fc.constantFrom(...ODD)), { minLength: 1, maxLength: 8 })
  .map((all) => `x${all.join('')}`);
const some = <T>(one: fc.Arbitrary<T>, by: (item: T) => string) =>
  fc.uniqueArray(one, { maxLength: 3, selector: by });

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const SERVICE_ACCOUNT = JSON.stringify({
  type: 'service_account',
  client_email: 'mail@project.iam.gserviceaccount.com',
  private_key_id: 'k1',
  private_key: privateKey,
});
const P256 =
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA==';
const AZURE = { tenant: 'contoso.onmicrosoft.com', client_id: '11111111-2222-3333-4444-555555555555' };

/** Relays of every type, which have every field between them; a field that names a file has the field's own name in it. */
// biome-ignore format: a table
export const RELAYS: readonly Readonly<Record<string, unknown>>[] = [
  { type: 'smtp', host: 'a.example', port: 2525, tls: 'required', verify: false, username: 'u', password_file: 's/password', auth: 'login', helo: 'h.example', source_ips: ['192.0.2.1'], ip_family: 'ipv4', return_path: 'keep' },
  { type: 'smtp', host: 'b.example' },
  { type: 'smtp', host: 'd.example', auth: 'xoauth2', preset: 'microsoft', username: 'u@contoso.com', ...AZURE, secret_file: 's/secret' },
  { type: 'smtp', host: 'e.example', auth: 'xoauth2', preset: 'google', username: 'u@example.com', client_id: 'id', secret_file: 's/secret', refresh_token_file: 's/refresh_token' },
  { type: 'smtp', host: 'f.example', auth: 'xoauth2', preset: 'google', username: 'u@example.com', service_account_file: 's/service_account', subject: 'v@example.com' },
  { type: 'smtp', host: 'c.example', auth: 'xoauth2', username: 'u', client_id: 'id', secret_file: 's/secret', token_url: 'https://t.example/token', scope: 'mail' },
  { type: 'mx', helo: 'mx.example.com', max_per_domain: 5, presets: false },
  { type: 'ses', region: 'eu-west-1', access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_file: 's/secret', configuration_set: 'bulk', webhook_topic_arn: 'arn:aws:sns:eu-west-1:123456789012:mail-events' },
  { type: 'mailgun', domain: 'mg.example.com', region: 'eu', secret_file: 's/secret', webhook_secret_file: 's/hook' },
  { type: 'postmark', message_stream: 'broadcast', secret_file: 's/secret', webhook_username: 'hook', webhook_secret_file: 's/hook' },
  { type: 'sendgrid', endpoint: 'https://api.eu.sendgrid.com', secret_file: 's/secret', webhook_public_key: P256 },
  { type: 'resend', secret_file: 's/secret', webhook_secret_file: 's/whsec' },
  { type: 'graph', ...AZURE, secret_file: 's/secret', mailbox: 'out@contoso.com', authority: 'https://login.example.com' },
  { type: 'webhook', url: 'https://hooks.example.com/mail/', secret_file: 's/secret' },
];

/** Rules with every condition between them. */
// biome-ignore format: a table
export const MATCHES: readonly Readonly<Record<string, unknown>>[] = [
  { sender: ['a@a.example', '<>'], sender_domain: ['*.b.example'] },
  { recipient: ['c@c.example'], recipient_domain: 'd.example' },
  { tag: ['x', 'ü'], key: 'some key', source: ['printer'], source_cidr: ['192.0.2.0/24', '2001:db8::1'] },
  { min_bytes: 10, max_bytes: '10MB', time: ['mon-fri 08:00-18:00', '22:00-06:00'] },
  // The last of all: whatever is behind it would never be reached.
  {},
];

const LIMITS = fc.record(
  {
    max_concurrency: fc.integer({ min: 1, max: 10_000 }),
    max_rate_per_second: fc.integer({ min: 0, max: 100 }),
    max_message_bytes: fc.constantFrom(0, 1_000_000, '10MB'),
    max_recipients: fc.integer({ min: 1, max: 10 }),
    max_per_day: fc.integer({ min: 0, max: 1000 }),
    quota_reserve_percent: fc.integer({ min: 0, max: 50 }),
    warmup_start: fc.constant('2026-12-01'),
    warmup_per_day: fc.constant([50, 100]),
    disabled: fc.boolean(),
  },
  { requiredKeys: [] },
);

const relay = fc
  .record({ name, kind: fc.constantFrom(...RELAYS), limits: LIMITS })
  .map(({ name: called, kind, limits: { warmup_start: start, ...limits } }) => ({
    name: called,
    ...kind,
    ...limits,
    ...(limits.warmup_per_day !== undefined && { warmup_start: start ?? '2026-12-01' }),
  }));

const template = fc.record(
  {
    alias: name,
    name: text.map((one) => `n${one}`),
    subject: text,
    text: lines,
    html: lines.map((one) => `<p>${one.replace(/[<&]/g, '')}</p>`),
    sample: fc.dictionary(
      name,
      fc.oneof(text, fc.integer(), fc.boolean(), fc.array(fc.record({ item: lines }), { maxLength: 2 })),
      { maxKeys: 2 },
    ),
    published: fc.boolean(),
  },
  { requiredKeys: ['alias', 'subject', 'text'] },
);

const key = fc.record(
  {
    name: text.map((one) => `k${one}`),
    scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1, maxLength: 3 }),
    test: fc.boolean(),
    rate_limit: fc.integer({ min: 0, max: 10_000 }),
    sender_domains: fc.uniqueArray(domain, { maxLength: 2 }),
    cidrs: fc.constantFrom([], ['192.0.2.0/24', '2001:db8::/32']),
    content_days: fc.integer({ min: 0, max: 3650 }),
    record_days: fc.integer({ min: 0, max: 3650 }),
    expires_at: fc.constantFrom('2099-01-31T12:00:00.000Z', '2020-01-31T12:00:00.000Z'),
    ses: fc.boolean(),
  },
  { requiredKeys: ['name', 'scopes'] },
);

const webhook = fc.record(
  {
    url: fc.constantFrom(
      'https://a.example/',
      'https://a.example/?',
      'https://b.example/x.y',
      'https://b.example/x-y',
    ),
    types: fc.constantFrom(['message.*'], ['message.bounced', 'webhook.disabled']),
    tags: fc.uniqueArray(name, { maxLength: 2 }),
    description: text,
    include: fc.constantFrom([], ['subject']),
    enabled: fc.boolean(),
    secret_file: fc.constant('s/whsec'),
    headers_file: fc.constant('s/headers'),
    whose: fc.constantFrom('key', 'keys'),
  },
  { requiredKeys: ['url'] },
);

const sending = fc.record(
  {
    name: domain,
    algorithm: fc.constant('ed25519'),
    return_path: domain.map((one) => `bounces.${one}`),
  },
  { requiredKeys: ['name', 'algorithm'] },
);

const suppressions = fc.record(
  {
    soft_bounces: fc.integer({ min: 1, max: 100 }),
    scope: fc.record({ complaint: fc.constantFrom('global', 'domain', 'key') }),
    expire_days: fc.record({ soft: fc.integer({ min: 0, max: 100 }) }),
  },
  { requiredKeys: [] },
);

/** A file. */
export const declaration = fc
  .record({
    relays: some(relay, (one) => one.name),
    keys: some(key, (one) => one.name),
    templates: some(template, (one) => one.alias),
    domains: some(sending, (one) => one.name),
    suppressions,
    matches: fc.subarray([...MATCHES], { maxLength: 3 }),
    isGroup: fc.boolean(),
    hooks: fc.array(webhook, { maxLength: 3 }),
  })
  .map(({ matches, isGroup, hooks, ...sections }) => {
    const [owner] = sections.keys;
    const webhooks = hooks.map(({ whose, ...hook }) => ({
      ...hook,
      ...(owner !== undefined && whose === 'key' && { key: owner.name }),
      ...(owner !== undefined && whose === 'keys' && { keys: [owner.name] }),
    }));
    const [first] = sections.relays;
    if (first === undefined) return { ...sections, webhooks };
    const names = sections.relays.map((one) => one.name);
    const via = isGroup
      ? names.map((one, place) => ({ relay: one, weight: place + 1 }))
      : [...names, 'inbox'];
    const routes = matches.map((match, place) => ({ name: `rule${place}`, match, via }));
    return { ...sections, webhooks, delivery: { default_relay: first.name }, routes };
  });

const NOTHING = {
  relays: [],
  delivery: {},
  routes: [],
  suppressions: {},
  domains: [],
  keys: [],
  webhooks: [],
  templates: [],
};

/** An installation that answers commands, and that may be emptied. */
export class Declaring {
  readonly #installation: Installation;
  #offline: Offline | null = null;
  #control: Running | null = null;

  /** `settings`: its configuration file. */
  constructor(settings = '') {
    this.#installation = new Installation();
    if (settings !== '') writeFileSync(join(this.#installation.dataDir, 'waybill.yaml'), settings);
  }

  async open(): Promise<void> {
    this.#offline = await this.#installation.open();
    this.#control = await this.#installation.listen(this.#offline);
    // Who may remove every key.
    await this.#offline.operations.resetPassword({ name: 'ada', password: 'correct horse battery staple' });
  }

  async close(): Promise<void> {
    await this.#control?.close();
    await this.#offline?.close();
    this.#installation.remove();
  }

  /** Makes everything as a file has it. */
  async apply(text: string): Promise<void> {
    const file = this.#write('mail.yaml', text);
    const { hash } = await this.#installation.json(['plan', file, '--prune']);
    await this.#installation.json(['apply', file, '--prune', '--plan', hash]);
  }

  async empty(): Promise<void> {
    await this.apply(JSON.stringify(NOTHING));
  }

  /** The export as it is printed. */
  async exported(): Promise<string> {
    const { status, out, err } = await this.#installation.waybill(['export']);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    return out;
  }

  /** Writes the files of secrets that declarations name, and those that the export of an installation does. */
  async writeSecrets(of: Declaring): Promise<void> {
    const { files } = await of.#installation.json(['export']);
    for (const file of [...SECRETS, ...files]) this.#write(file, secretOf(file));
  }

  /** What a file would change. */
  async plan(text: string): Promise<string> {
    return (await this.#installation.waybill(['plan', this.#write('mail.yaml', text), '--prune'])).out;
  }

  #write(name: string, text: string): string {
    const path = join(this.#installation.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }
}

const SECRETS = ['password', 'secret', 'refresh_token', 'service_account', 'hook', 'whsec', 'headers'].map(
  (one) => `s/${one}`,
);

function secretOf(file: string): string {
  if (file.endsWith('service_account')) return SERVICE_ACCOUNT;
  if (file.endsWith('headers')) return '{"Authorization":"Bearer tok","X-Shop":"1"}';
  if (/whsec|webhooks\/|webhook_secret/.test(file)) return `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  return 'hunter2';
}

/** Exported, applied to another installation and exported again it is the same, and makes no difference where it is from. */
export async function roundTrips(declared: unknown, here: Declaring, there: Declaring): Promise<void> {
  for (const one of [here, there]) await one.empty();
  await here.writeSecrets(here);
  await here.apply(JSON.stringify(declared));
  const exported = await here.exported();
  expect(await here.plan(exported)).toMatch(/^Nothing would change\.\n/);
  await there.writeSecrets(here);
  await there.apply(exported);
  expect(await there.exported()).toBe(exported);
}
