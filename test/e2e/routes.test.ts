/** Routes of the real service: from the file, by command, explained, rehearsed, and followed by mail that waits. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import type { Finding } from '../../src/operations/system.ts';
import { ask } from '../crash/customer.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { createKey, type Service, startService } from './service.ts';

const LETTER = { from: 'ann@example.com', subject: 'Routes', text: 'x' };
const NAMES = ['out', 'direct', 'bulk'] as const;
type Sinks = Readonly<Record<(typeof NAMES)[number], SmtpSink>>;

/** The three relays, and more of a configuration. */
function configuration(sinks: Sinks, more = '', names: readonly (keyof Sinks)[] = NAMES): string {
  const relays = names.map(
    (name) => `  - { name: ${name}, type: smtp, host: 127.0.0.1, port: ${sinks[name].port}, tls: none }`,
  );
  return `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
relays:
${relays.join('\n')}
${more}
`;
}

const THREE_WAYS = `
routes:
  - { name: partners, match: { recipient_domain: "*.example.org" }, via: [direct, out] }
  - { name: news, match: { recipient_domain: example.net, tag: news }, via: [bulk] }
`;

async function install({ onTestFinished }: TestContext, routes = '') {
  const [out, direct, bulk] = await Promise.all([startSmtpSink(), startSmtpSink(), startSmtpSink()]);
  const sinks = { out, direct, bulk };
  const service = await startService(configuration(sinks, routes));
  onTestFinished(async () => {
    await service.stop();
    await Promise.all(Object.values(sinks).map((sink) => sink.close()));
  });
  return { sinks, service };
}

/** Runs `waybill routes …`; what it printed as JSON. */
async function routes({ installation }: Service, ...args: string[]) {
  const { code, stdout, stderr } = await installation.run('routes', ...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

function fileOf({ installation }: Service, rules: string): string {
  const path = join(installation.dataDir, 'rules.yaml');
  writeFileSync(path, rules);
  return path;
}

function recipientsOf(sink: SmtpSink): string[] {
  return sink.commands.flatMap(({ line }) => /^RCPT TO:<([^>]*)>/.exec(line)?.[1] ?? []);
}

async function checkOf(service: Service, name: string) {
  const { checks } = JSON.parse((await ask(service.server, '/health')).body);
  return checks.find((check: { readonly name: string }) => check.name === name)?.status;
}

// At once, because most of the time goes by in waiting.
describe.concurrent('routes', { timeout: 180_000 }, () => {
  test('one message with three recipients leaves by three relays, as explain tells', async (context) => {
    const { sinks, service } = await install(context, THREE_WAYS);
    const to = ['a@mail.example.org', 'b@example.net', 'c@example.com'];
    const verdict = await service.client.post({ ...LETTER, to, tags: ['news'], dryRun: true });
    expect(await verdict.json()).toMatchObject({
      recipients: [
        { relay: 'direct', rule: 'partners' },
        { relay: 'bulk', rule: 'news' },
        { relay: 'out', rule: null },
      ],
    });
    const done = await service.client.end(await service.client.send({ ...LETTER, to, tags: ['news'] }));
    expect(done.recipients.map(({ address, relay, status }) => [address, relay, status])).toEqual([
      ['a@mail.example.org', 'direct', 'delivered'],
      ['b@example.net', 'bulk', 'delivered'],
      ['c@example.com', 'out', 'delivered'],
    ]);
    for (const [place, sink] of [sinks.direct, sinks.bulk, sinks.out].entries())
      expect(recipientsOf(sink)).toEqual([to[place]]);

    const described = ['--from', 'ann@example.com', '--tag', 'news'];
    const explained = await routes(service, 'explain', ...described, '--to', 'b@example.net');
    expect(explained).toMatchObject({
      tableVersion: 2,
      rules: [
        { rule: 'partners', matched: false, unmet: 'recipient_domain' },
        { rule: 'news', matched: true, unmet: null },
      ],
      group: [{ relay: 'bulk', fitness: 'usable' }],
      relay: 'bulk',
    });
    const admin = await createKey(service.installation, 'admin', '--scope', 'admin');
    const query = 'from=ann@example.com&to=b@example.net&tag=news';
    const url = `${service.server.api}/api/v1/routes/explain?${query}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${admin}` } });
    expect(await answer.json()).toEqual({ ...explained, at: expect.any(String) });
    const text = await service.installation.run('routes', 'explain', ...described, '--to', 'b@example.net');
    expect(text.stdout).toMatch(/^partners +no +recipient_domain$/m);
    expect(text.stdout).toMatch(/^bulk +usable +chosen$/m);
  });

  test("the file's routes are changed in the file alone, and a change is a new version", async (context) => {
    const { sinks, service } = await install(context, THREE_WAYS);
    const refused = await service.installation.run('routes', 'publish', fileOf(service, '[]'));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('has a section routes')]);
    expect((await service.installation.run('routes', 'rollback', '2')).code).toBe(1);
    service.installation.configure(configuration(sinks, THREE_WAYS.replace('[bulk]', '[direct]')));
    await vi.waitFor(async () => expect((await routes(service, 'show')).version).toBe(3), 30_000);
    expect(await routes(service, 'list')).toMatchObject([
      { version: 3, inForce: true, origin: 'file', ruleCount: 2 },
      { version: 2, inForce: false, origin: 'file', ruleCount: 2 },
    ]);
  });

  test('rules are rehearsed, published, followed by what waits, and rolled back', async (context) => {
    const { service } = await install(context);
    const { client } = service;
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const id = await client.send({ ...LETTER, to: ['a@example.org', 'b@example.net'], sendAt });
    const file = fileOf(
      service,
      'routes: [{ name: orgs, match: { recipient_domain: example.org }, via: [direct] }]',
    );
    expect(await routes(service, 'test', file)).toMatchObject({
      messages: 1,
      recipients: 2,
      unchanged: 1,
      moves: [
        {
          from: 'out',
          to: 'direct',
          recipients: 1,
          examples: [{ id, recipient: 'a@example.org', rule: null, newRule: 'orgs' }],
        },
      ],
    });
    expect(await routes(service, 'publish', file)).toMatchObject({ version: 3, ruleCount: 1, inForce: true });
    const relaysOf = async () => (await client.record(id)).recipients.map(({ relay }) => relay);
    await vi.waitFor(async () => expect(await relaysOf()).toEqual(['direct', 'out']), 30_000);
    await service.server.end('SIGTERM');
    // What was published holds after a restart, and commands work without a server.
    const wrong = fileOf(service, '[{ match: { tag: x }, via: [nobody] }]');
    const refused = await service.installation.run('routes', 'publish', wrong);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('no such relay')]);
    expect(await routes(service, 'rollback', '2')).toMatchObject({ version: 4, ruleCount: 0 });
    await service.restart();
    expect(await routes(service, 'show')).toMatchObject({ version: 4, rules: [], inForce: true });
    await vi.waitFor(
      async () =>
        expect((await service.client.record(id)).recipients.map(({ relay }) => relay)).toEqual([
          'out',
          'out',
        ]),
      30_000,
    );
  });

  test('a relay that a rule names is not removed', async (context) => {
    const { service } = await install(context);
    const add = ['--type', 'smtp', '--host', '127.0.0.1', '--tls', 'none'];
    await service.installation.run('relays', 'add', 'extra', ...add);
    await routes(service, 'publish', fileOf(service, '[{ name: x, match: { tag: x }, via: [extra] }]'));
    const refused = await service.installation.run('relays', 'remove', 'extra');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('relay extra: x')]);
  });

  test('a published rule whose relay is gone does without it, over a restart, until rules are published', async (context) => {
    const { sinks, service } = await install(context);
    const { installation } = service;
    await routes(
      service,
      'publish',
      fileOf(service, '[{ name: x, match: { tag: x }, via: [bulk, direct] }]'),
    );
    installation.configure(configuration(sinks, '', ['out', 'direct']));
    await vi.waitFor(async () => expect(await checkOf(service, 'routes')).toBe('degraded'), 30_000);
    expect(await checkOf(service, 'configuration')).toBeUndefined();
    await service.server.end('SIGTERM');
    await service.restart();
    const id = await service.client.send({ ...LETTER, to: 'b@example.net', tags: ['x'] });
    expect(await service.client.end(id)).toMatchObject({ status: 'delivered', relay: 'direct' });
    const { checks } = JSON.parse((await ask(service.server, '/health')).body);
    const detail = expect.stringMatching(/rule x names the relay bulk, .* waybill routes publish FILE/);
    expect(checks).toContainEqual({ name: 'routes', status: 'degraded', detail });
    const { stdout } = await installation.run('doctor', '--json');
    const findings: Finding[] = JSON.parse(stdout).findings;
    expect(findings.find(({ name }) => name === 'route x')).toMatchObject({ status: 'warn' });
    await service.server.end('SIGTERM');
    const file = fileOf(service, '[{ name: x, match: { tag: x }, via: [direct] }]');
    const published = await installation.run('routes', 'publish', file);
    expect([published.code, published.stderr]).toEqual([0, '']);
    await service.restart();
    await vi.waitFor(async () => expect(await checkOf(service, 'routes')).toBe('healthy'), 30_000);
  });

  test('mail whose relay vanishes is routed anew', async (context) => {
    const { sinks, service } = await install(context, THREE_WAYS);
    sinks.bulk.script = { MAIL: '451 4.3.0 not now' };
    const id = await service.client.send({ ...LETTER, to: 'b@example.net', tags: ['news'] });
    await service.client.until(id, 'retrying');
    service.installation.configure(configuration(sinks, '', ['out', 'direct']));
    const done = await service.client.end(id);
    expect(done).toMatchObject({ status: 'delivered', relay: 'out' });
  });

  test('mail without a route waits and degrades health, and goes out when there is a way', async (context) => {
    const { service } = await install(context);
    await service.installation.run('queue', 'drain', 'out');
    const id = await service.client.send({ ...LETTER, to: 'b@example.net' });
    await vi.waitFor(async () => expect(await checkOf(service, 'routes')).toBe('degraded'), 30_000);
    expect((await service.client.record(id)).recipients).toMatchObject([{ status: 'queued', relay: null }]);
    const explained = await routes(service, 'explain', '--from', '<>', '--to', 'b@example.net');
    expect(explained).toMatchObject({ relay: null, group: [{ relay: 'out', fitness: 'draining' }] });
    await service.installation.run('queue', 'resume', 'out');
    expect(await service.client.end(id)).toMatchObject({ status: 'delivered', relay: 'out' });
    await vi.waitFor(async () => expect(await checkOf(service, 'routes')).toBe('healthy'), 30_000);
  });
});
