import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Installation } from '../../test/support/installation.ts';
import { systemClock } from '../lib/clock.ts';
import { exportText, planText } from './configuring-text.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
  mkdirSync(join(here.folder, 'secrets'));
  writeFileSync(join(here.folder, 'secrets/main'), 'hunter2\n');
});
afterEach(() => here.remove());

const FILE = `
relays:
  - { name: main, type: smtp, host: smtp.example.net, port: 587, username: shop, password_file: secrets/main }
  - { name: spare, type: smtp, host: spare.example.net, disabled: true }
delivery: { default_relay: main }
routes:
  - { name: bulk, match: { tag: [ news ] }, via: [ spare, main ] }
suppressions: { soft_bounces: 7, scope: { complaint: global } }
domains:
  - { name: example.com, algorithm: ed25519, return_path: bounces.example.com }
keys:
  - { name: shop, scopes: [ 'messages:send' ], rate_limit: 100, sender_domains: [ example.com ] }
webhooks:
  - { url: 'https://shop.example.com/told', types: [ message.bounced ], keys: [ shop ] }
templates:
  - alias: welcome
    subject: Hello {{name}}
    text: |
      Hello {{name}}.
      Welcome.
`;

function write(text: string, name = 'mail.yaml'): string {
  const file = join(here.folder, name);
  writeFileSync(file, text);
  return file;
}

/** Plans and applies a file; what apply printed. */
async function applied(text: string, ...more: readonly string[]): Promise<string> {
  const file = write(text);
  const { hash } = await here.json(['plan', file, ...more]);
  const { status, out, err } = await here.waybill(['apply', file, ...more, '--plan', hash]);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return out;
}

const shown = async (...args: readonly string[]) => (await here.waybill(args)).out;
const refused = async (...args: readonly string[]) => {
  const { status, err } = await here.waybill(args);
  expect(status).not.toBe(0);
  return err;
};

test('a file is planned, applied by the hash of its plan, and makes no difference after that', async () => {
  const file = write(FILE);
  const plan = await shown('plan', file);
  expect(plan).toContain(
    '+ relays main\n    type: smtp\n    host: smtp.example.net\n    port: 587\n    username: shop\n    password: "********"',
  );
  expect(plan).toContain('    text:\n      + Hello {{name}}.\n      + Welcome.');
  expect(plan).toMatch(
    /10 to add, 0 to change, 0 to remove\. To do it: waybill apply .*mail\.yaml --plan [0-9a-f]{32}\n$/,
  );
  // A plan changes nothing.
  expect(await here.json(['keys', 'list'])).toEqual([]);
  const done = await applied(FILE);
  expect(done).toMatch(/Key shop: wb_live_\S+\nWebhook https:\/\/shop\.example\.com\/told: whsec_\S+/);
  expect(done).toContain('New DNS records to publish, of 1 domain: waybill domains show example.com');
  expect(`${plan}${done}`).not.toContain('hunter2');
  expect(await shown('plan', file, '--prune')).toBe('Nothing would change.\n');
  const [main, spare] = (await here.json(['relays', 'list'])).filter(
    ({ type }: { type: string }) => type === 'smtp',
  );
  expect([main, spare]).toMatchObject([
    { name: 'main', isDefault: true, disabled: false },
    { name: 'spare', disabled: true },
  ]);
  const exported = write(await shown('export'), 'exported.yaml');
  expect(await shown('plan', exported, '--prune')).toMatch(
    /^Nothing would change\.\n\nThese files are missing/,
  );
});

test('what differs is shown field by field, and a file without something removes it only with --prune', async () => {
  await applied(FILE);
  const less = FILE.replace(/ {2}- \{ name: shop.*\n/, '  []\n')
    .replace(/webhooks:\n.*\n/, '')
    .replace('port: 587', 'port: 465')
    .replace('Welcome.', 'You are welcome.');
  const file = write(less);
  writeFileSync(join(here.folder, 'secrets/main'), 'another\n');
  const plan = await shown('plan', file);
  expect(plan).toContain('~ relays main\n    port: 587 → 465\n    password: "********" → "********"');
  expect(plan).toContain(
    '~ templates welcome\n    text:\n        (1 line as before)\n      - Welcome.\n      + You are welcome.',
  );
  expect(plan).toContain('kept, as --prune is not given:\n  keys shop');
  await applied(less);
  expect(await here.json(['keys', 'list'])).toMatchObject([{ name: 'shop', revokedAt: null }]);
  expect(await applied(less, '--prune')).toContain('- keys shop');
  expect(await here.json(['keys', 'list'])).toMatchObject([{ name: 'shop', revokedAt: expect.any(String) }]);
  // Its section is not in the file: nobody said anything about webhooks.
  expect((await here.json(['webhooks', 'list'])).webhooks).toHaveLength(1);
});

test('lines are shown without an empty one at the end, and a line end there where it makes the difference', () => {
  const planned = { file: 'mail.yaml', options: {}, missing: [], now: 0 };
  const shownOf = (before: string | null, after: string) => {
    const fields = [{ field: 'text', before, after }];
    const action = before === null ? ('add' as const) : ('change' as const);
    const changes = [{ section: 'templates' as const, name: 't', action, fields }];
    return planText({ hash: '', basis: {}, changes, left: [] }, planned).split('\n\n')[0];
  };
  expect(shownOf(null, 'Hello.\nBye.\n')).toBe('+ templates t\n    text:\n      + Hello.\n      + Bye.');
  expect(shownOf('a\nb\n', 'a\nc\n')).toBe(
    '~ templates t\n    text:\n        (1 line as before)\n      - b\n      + c',
  );
  expect(shownOf('a\nb', 'a\nb\n')).toMatch(/\(2 lines as before\)\n {8}\(a line end at the end is new\)$/);
  expect(shownOf('a\nb\n', 'a\nb')).toMatch(/\(the line end at the end is gone\)$/);
});

test('however much is kept, what changes can be seen', () => {
  const left = Array.from({ length: 21 }, (_, n) => ({ section: 'domains' as const, name: `d${n}.example` }));
  const planned = { file: 'mail.yaml', options: {}, missing: [], now: 0 };
  const text = planText({ hash: '', basis: {}, changes: [], left }, planned);
  expect(text).toMatch(/\n {2}domains d19\.example\n {2}… and 1 more$/);
});

describe('nothing slips in', () => {
  test('a plan of another state is refused, and says what differs', async () => {
    const file = write(FILE);
    const planned = write(await shown('plan', file, '--json'), 'plan.json');
    await here.json(['keys', 'create', 'shop']);
    const told = await refused('apply', file, '--plan', planned);
    expect(told).toContain('Nothing was changed');
    expect(told).toContain(
      'planned: add keys shop\nnow: change keys shop: scopes ["messages:send","messages:read"] → ["messages:send"]',
    );
    expect(told).not.toContain('relays');
    const { hash } = JSON.parse(await shown('plan', write('keys: []', 'none.yaml'), '--json'));
    expect(await refused('apply', file, '--plan', hash)).toContain('now: add relays main');
    expect((await here.json(['domains', 'list'])).domains ?? []).toEqual([]);
  });

  test('neither does another secret', async () => {
    const file = write(FILE);
    const { hash } = await here.json(['plan', file]);
    writeFileSync(join(here.folder, 'secrets/main'), 'another\n');
    expect(await refused('apply', file, '--plan', hash)).toContain('Nothing was changed');
  });

  test('another installation has other hashes where secrets are in it', async () => {
    const file = write(FILE);
    const { hash } = await here.json(['plan', file]);
    const there = new Installation();
    const other = await there.json(['plan', file]);
    there.remove();
    expect(other.hash).not.toBe(hash);
  });

  test('without a plan nothing is done', async () => {
    expect(await refused('apply', write(FILE))).toContain('--plan is needed');
    expect(await refused('apply', write(FILE), '--plan', 'nowhere.json')).toContain(
      'neither the hash of a plan',
    );
  });
});

test.each<[string, string, string]>([
  ['a section that there is not', 'relay: []', 'relay: no such section; did you mean relays?'],
  ['a list that is none', 'keys: {}', 'keys: must be a list of at most 2000 items'],
  ['a member that is none', 'keys: [ shop ]', 'keys[0]: must be a map'],
  [
    'a field that there is not',
    'keys: [ { name: a, scopes: [ admin ], rate_limt: 5 } ]',
    'keys[0]: rate_limt: no such field; did you mean rate_limit?',
  ],
  [
    'a field as programs name it',
    'keys: [ { name: a, scopes: [ admin ], rateLimit: 5 } ]',
    'rateLimit: no such field; did you mean rate_limit?',
  ],
  ['a value that may not be', 'keys: [ { name: a, scopes: [ admn ] } ]', 'keys[0]: scopes.0: Must be'],
  [
    'a name twice',
    'keys: [ { name: a, scopes: [ admin ] }, { name: a, scopes: [ admin ] } ]',
    'keys[1]: a is declared twice',
  ],
  [
    'a secret in clear',
    'relays: [ { name: a, type: smtp, host: a.example, username: u, password: p } ]',
    'password_file',
  ],
  [
    'a relay without its secret',
    'relays: [ { name: a, type: resend } ]',
    'a.secret: must be given (declared relay)',
  ],
  ['no default relay', 'relays: [ { name: a, type: smtp, host: a.example } ]', 'delivery.default_relay'],
  ['a default relay that there is not', 'delivery: { default_relay: gone }', 'delivery.default_relay'],
  ['a route through a relay that there is not', 'routes: [ { name: r, match: {}, via: [ gone ] } ]', 'gone'],
  ['a setting of another kind', 'suppressions: { soft_bounces: many }', 'suppressions.soft_bounces: must be'],
  [
    'a setting that is not declared here',
    'delivery: { max_age_hours: 3 }',
    'delivery.max_age_hours: is not declared here',
  ],
  ['a domain that is none', 'domains: [ { name: localhost } ]', 'is not a domain'],
  [
    'a webhook of a key that there is not',
    "webhooks: [ { url: 'https://a.example/', key: gone } ]",
    'there is no key gone',
  ],
  ['a webhook to this machine', "webhooks: [ { url: 'http://127.0.0.1/' } ]", 'webhooks[0]: '],
  [
    'a template that cannot be read',
    'templates: [ { alias: a, subject: "{{#each", text: x } ]',
    'templates[0]: subject: Line 1',
  ],
])('%s is refused', async (_what, text, told) => {
  expect(await refused('plan', write(text))).toContain(told);
});

test('what waybill.yaml has is named in an export and left out, whatever was stored before', async () => {
  await applied('suppressions: { soft_bounces: 7 }');
  writeFileSync(
    join(here.dataDir, 'waybill.yaml'),
    'relays: [ { name: main, type: smtp, host: a.example } ]\ndelivery: { default_relay: main }\nroutes: []\nsuppressions: { soft_bounces: 5 }\n',
  );
  const exported = await shown('export');
  expect(exported).toContain(
    '\n# Not in here, because waybill.yaml or the environment has it:\n#   relays main\n#   delivery.default_relay\n#   routes\n#   suppressions.soft_bounces\n',
  );
  expect(exported).toContain('\nsuppressions: {}\n');
  expect(await shown('plan', write(exported, 'exported.yaml'), '--prune')).toBe('Nothing would change.\n');
});

test('a key that has expired by then is made as it is, and the plan says so', async () => {
  const text = "keys: [ { name: old, scopes: [ admin ], expires_at: '2090-01-01T00:00:00Z' } ]";
  await applied(text);
  const there = new Installation();
  const clock = { ...systemClock, wall: () => Date.UTC(2095, 0) };
  const exported = write((await here.waybill(['export'], { clock })).out, 'exported.yaml');
  const { out } = await there.waybill(['plan', exported], { clock });
  there.remove();
  expect(out).toContain('+ keys old');
  expect(out).toContain('Already expired, so these keys will not work:\n  keys old');
  expect(await shown('plan', write(text))).toBe('Nothing would change.\n');
});

describe('a file is read strictly', () => {
  test('its faults have their lines', async () => {
    const file = write(
      'keys:\n  - name: a\n    scopes: [ admin ]\n    rate_limt: 5\n  - { name: b }\nrelay: []\nwebhooks:\n',
    );
    const told = await refused('plan', file);
    expect(told).toContain('line 4: keys[0]: rate_limt: no such field');
    expect(told).toContain('line 5: keys[1]: scopes: ');
    expect(told).toContain('line 6: relay: no such section');
    expect(told).toContain('line 7: webhooks: has no value; write [] for none');
    const locked = write('keys:\n  - { name: a, scopes: [ admin ] }\ndelivery:\n  default_relay: gone\n');
    expect(await refused('plan', locked)).toContain('line 4: delivery.default_relay');
  });

  test.each([
    ['bytes that are no text', Buffer.from([0x6b, 0xff, 0xfe]), 'it is not text in UTF-8'],
    ['a map that is its own name twice', 'keys: []\nkeys: []\n', 'Map keys must be unique at line 2'],
    ['an alias within itself', 'keys: &a [ *a ]\n', 'has an alias within its own value'],
    ['nesting without end', `keys: ${'['.repeat(100_000)}`, 'is nested too deeply'],
    [
      'a file of a secret that is none',
      'webhooks: [ { url: "https://a.example/", secret_file: 5 } ]',
      'name of a file',
    ],
    [
      'what objects have anyway',
      'keys: [ { name: a, scopes: [ admin ], __proto__: { test: true } } ]',
      'The name __proto__ is not allowed',
    ],
    ['a section that is none', '__proto__: []', 'The name __proto__ is not allowed'],
  ])('%s is refused', async (_what, bytes, told) => {
    const file = join(here.folder, 'mail.yaml');
    writeFileSync(file, bytes);
    expect(await refused('plan', file)).toContain(told);
  });

  test('aliases may stand for what several have', async () => {
    const file = write('keys:\n  - { name: a, scopes: &s [ admin ] }\n  - { name: b, scopes: *s }\n');
    expect((await here.json(['plan', file])).changes).toHaveLength(2);
  });
});

test('a file of a secret that is missing is told, and what is there stays', async () => {
  await applied(FILE);
  rmSync(join(here.folder, 'secrets/main'));
  expect(await shown('plan', write(FILE))).toBe(
    'Nothing would change.\n\nThese files are missing, so their secrets stay as they are:\n  secrets/main\n',
  );
  // One that cannot be read is not missing.
  mkdirSync(join(here.folder, 'secrets/main'));
  expect(await refused('plan', write(FILE))).toContain('The secret cannot be read from');
});

test('the status says whether something would change, and the command where', async () => {
  const file = write('keys: [ { name: a, scopes: [ admin ] } ]', 'my mail.yaml');
  const { status, out } = await here.waybill(['plan', file, '--exit-code', '--data', here.dataDir]);
  expect(status).toBe(3);
  expect(out).toMatch(/To do it: waybill apply '.*my mail\.yaml' --plan [0-9a-f]{32} --data \S+\n$/);
  await applied('keys: [ { name: a, scopes: [ admin ] } ]');
  expect((await here.waybill(['plan', file, '--exit-code'])).status).toBe(0);
});

test('text that a terminal must not be sent makes its way round', async () => {
  const text = 'tab\there\nright \u200f to left\nred \u001b[31m\r\nend\u0085';
  await applied(JSON.stringify({ templates: [{ alias: 'odd', subject: '\u202eodd', text }] }));
  const exported = await shown('export', '--only', 'templates');
  expect(exported).not.toMatch(/[\u200f\u202e\u001b\u0085]/);
  expect(await shown('plan', write(exported, 'exported.yaml'))).toBe('Nothing would change.\n');
});

test('a text at the end of an export keeps its spaces and its ends of lines', () => {
  const characters = fc.constantFrom('x', '\n', ' ', '\t', '\u00a0', '\u2028', '#', ': ', '"', '|');
  const holds = (text: string) => {
    const configuration = { templates: [{ text }] };
    expect(parse(`${exportText({ configuration, files: [], elsewhere: [] })}\n`)).toEqual(configuration);
  };
  fc.assert(fc.property(fc.string({ unit: characters, maxLength: 7 }), holds), {
    examples: [['x\u2028'], ['x\n\n'], [' \n']],
  });
});

test('an export of as much as there may be can be read', async () => {
  const keys = Array.from({ length: 2000 }, (_, n) => ({
    name: `key${n}`,
    scopes: ['messages:send'],
    rate_limit: 5,
    content_days: 1,
    sender_domains: ['example.com'],
    cidrs: ['192.0.2.0/24'],
    expires_at: '2099-01-01T00:00:00Z',
    test: true,
    ses: true,
    record_days: 9,
    extra: true,
  }));
  // More keys than a configuration file may have; that each has a field too many is all that is wrong with it.
  expect(await refused('plan', write(JSON.stringify({ keys })))).toContain('extra: no such field');
});

test('files have bounds', async () => {
  const many = Array.from({ length: 2001 }, (_, n) => `  - { alias: t${n}, subject: s, text: t }`);
  expect(await refused('plan', write(`templates:\n${many.join('\n')}`))).toContain('at most 2000 items');
  expect(await refused('plan', write(`# ${'x'.repeat(16 * 1024 * 1024)}`))).toContain(
    'more than 16777216 bytes',
  );
});
