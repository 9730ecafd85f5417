import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Installation } from '../../../test/support/installation.ts';
import { tell, times } from '../../../test/support/proof.ts';
import { SCOPES } from '../../domain/key.ts';
import type { Operations } from '../../operations/table.ts';
import type { Offline } from '../offline.ts';

/** What is exported, applied to an empty installation and exported again, is the same. */

const RUNS = times('round_trips', 15);

const name = fc
  .stringMatching(/^[a-z][a-z0-9_-]{0,8}$/)
  .filter((one) => one !== 'inbox' && one !== 'default');
const domain = name.map((label) => `${label.replaceAll('_', 'x').replace(/-+$/, '')}.example`);
/** Any text that may stand in a file: quotes, colons, several lines, other scripts. */
const text = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .map((one) => one.replace(/[\p{C}{}]/gu, '').normalize());
const lines = fc.array(text, { minLength: 1, maxLength: 4 }).map((all) => `x${all.join('\n')}`);
const some = <T>(one: fc.Arbitrary<T>, by: (item: T) => string) =>
  fc.uniqueArray(one, { maxLength: 3, selector: by });

const relay = fc.record({
  name,
  type: fc.constant('smtp'),
  host: domain,
  port: fc.integer({ min: 1, max: 65_535 }),
  max_concurrency: fc.option(fc.integer({ min: 1, max: 10_000 })),
  disabled: fc.boolean(),
  username: fc.option(fc.constantFrom('shop', 'ann@example.com')),
});

const template = fc.record(
  {
    alias: name,
    name: text.map((one) => `n${one}`),
    subject: text,
    text: lines,
    html: lines.map((one) => `<p>${one.replace(/[<&]/g, '')}</p>`),
    sample: fc.dictionary(name, text, { maxKeys: 2 }),
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

const file = fc
  .record({
    relays: some(relay, (one) => one.name),
    keys: some(key, (one) => one.name),
    templates: some(template, (one) => one.alias),
    domains: some(fc.record({ name: domain, algorithm: fc.constant('ed25519') }), (one) => one.name),
    suppressions: fc.record(
      {
        soft_bounces: fc.integer({ min: 1, max: 100 }),
        scope: fc.record({ complaint: fc.constantFrom('global', 'domain', 'key') }),
        expire_days: fc.record({ soft: fc.integer({ min: 0, max: 100 }) }),
      },
      { requiredKeys: [] },
    ),
    tag: name,
    urls: fc.array(fc.constantFrom('https://a.example/', 'https://b.example/x'), { maxLength: 3 }),
    owned: fc.boolean(),
  })
  .map(({ tag, urls, owned, ...sections }) => {
    const relays = sections.relays.map(({ username, ...rest }) => ({
      ...rest,
      ...(username !== null && { username, password_file: `p/${rest.name}` }),
    }));
    const [first] = relays;
    const [owner] = sections.keys;
    const webhooks = urls.map((url, place) => ({
      url,
      tags: [tag, String(place % 2)],
      ...(owner !== undefined && (owned ? { key: owner.name } : { keys: [owner.name] })),
    }));
    if (first === undefined) return { ...sections, webhooks };
    const routes = [
      {
        name: 'tagged',
        match: { tag: [tag], max_bytes: 1000 },
        via: [...relays.map((one) => one.name), 'inbox'],
      },
    ];
    return { ...sections, webhooks, relays, delivery: { default_relay: first.name }, routes };
  });

/** Every secret that files may name. */
function secretsOf(files: readonly string[]): Record<string, string> {
  const secret = (one: string) =>
    one.endsWith('.secret') ? `whsec_${Buffer.alloc(32, one).toString('base64')}` : `secret of ${one}`;
  return Object.fromEntries(files.map((one) => [one, secret(one)]));
}

async function apply(
  configuration: Record<string, unknown>,
  secrets: Record<string, string>,
  to: Operations,
) {
  const request = { configuration, secrets, prune: true };
  const { hash } = await to.planConfiguration(request);
  await to.applyConfiguration({ ...request, plan: hash });
}

let here: [Installation, Offline];
let there: [Installation, Offline];
beforeAll(async () => {
  const opened = async (): Promise<[Installation, Offline]> => {
    const one = new Installation();
    const offline = await one.open();
    // Who may remove every key.
    await offline.operations.resetPassword({ name: 'ada', password: 'correct horse battery staple' });
    return [one, offline];
  };
  [here, there] = [await opened(), await opened()];
});
afterAll(async () => {
  for (const [installation, offline] of [here, there]) {
    await offline.close();
    installation.remove();
  }
});

test('export, apply to an empty installation, export: the same, whatever was declared', async () => {
  const [first, second] = [here[1].operations, there[1].operations];
  const nothing = {
    relays: [],
    delivery: {},
    routes: [],
    suppressions: {},
    domains: [],
    keys: [],
    webhooks: [],
    templates: [],
  };
  await fc.assert(
    fc.asyncProperty(file, async (declared) => {
      await apply(nothing, {}, first);
      await apply(nothing, {}, second);
      await apply(declared, secretsOf(declared.relays.map((one) => `p/${one.name}`)), first);
      const exported = await first.exportConfiguration({});
      const configuration = { ...exported.configuration };
      await apply(configuration, secretsOf(exported.files), second);
      const again = await second.exportConfiguration({});
      expect(again).toEqual(exported);
      // What was exported makes no difference where it comes from, whatever else is asked for.
      const plan = await first.planConfiguration({ configuration, prune: true });
      expect([plan.changes, plan.left]).toEqual([[], []]);
    }),
    { numRuns: RUNS },
  );
  tell('configuration round trips', { files: RUNS });
});
