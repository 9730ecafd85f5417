/** Two servers over one PostgreSQL: whatever one of them does, the other knows. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createControlClient } from '../../src/control/client.ts';
import type { SessionCalls } from '../../src/dashboard/contract.ts';
import { CLEAR_MS } from '../../src/domain/alert.ts';
import { FORGOTTEN_MS, MISSING_MS } from '../../src/store/cluster.ts';
import { ask, healthOf } from '../crash/customer.ts';
import { startAuthority, type TestAuthority } from '../peers/acme-authority.ts';
import { CLIENT, type HostileProvider, startHostileProvider } from '../peers/hostile-provider.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { type Node, Nodes } from './nodes.ts';
import { type Client, createKey } from './service.ts';
import { Visitor } from './visitor.ts';

const SCHEMA = 'cluster';
const PASSWORD = 'correct horse battery';
const LETTER = { from: 'a@example.com', to: ['b@example.net'], text: 'x' };
/** What one node does the other knows within a second; a busy machine is given more. */
const SOON = { timeout: 60_000, interval: 50 };

describeWith(POSTGRES_PROGRAMS, 'two nodes', () => {
  let postgres: Postgres;
  let sink: SmtpSink;
  let provider: HostileProvider;
  let authority: TestAuthority;
  /** What each node answered the authority. */
  const proofs: (readonly string[])[] = [];
  let folder: string;
  let nodes: Nodes;
  /** Takes mail and sends none. */
  let front: Node;
  /** Takes mail by the API, sends, and watches for alerts. */
  let back: Node;
  /** Is killed, comes back, and leaves. */
  let third: Node;
  let key: string;
  let admin: string;
  let atFront: Client;
  let atBack: Client;

  beforeAll(async () => {
    const prove = async (token: string) => {
      const path = `/.well-known/acme-challenge/${token}`;
      const answers = await Promise.all([front, back].map(({ server }) => ask(server, path)));
      proofs.push(answers.map(({ body }) => body));
      return answers[0]?.body ?? null;
    };
    [postgres, sink, provider, authority] = await Promise.all([
      Postgres.start(),
      startSmtpSink(),
      startHostileProvider(Date.now),
      startAuthority(prove, Date.now),
    ]);
    folder = mkdtempSync(join(tmpdir(), 'waybill-roots-'));
    const caFile = join(folder, 'root.pem');
    writeFileSync(caFile, authority.ca);
    nodes = new Nodes(
      postgres.url(),
      SCHEMA,
      `delivery: { default_relay: out }
tls: { acme: { directory: "${authority.directory}", ca_file: ${caFile} } }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
sign_in:
  oidc:
    issuer: ${provider.issuer}
    client_id: ${CLIENT.id}
    client_secret: "${CLIENT.secret}"
    ca_file: ${provider.caFile}
    roles: [{ group: admins, role: admin }]`,
    );
    front = nodes.add('front', { roles: ['api', 'smtp', 'webui'] });
    front.installation.environment['WAYBILL_ADMIN_PASSWORD'] = PASSWORD;
    await front.start();
    back = await nodes.start('back', { roles: ['api', 'delivery', 'webui'] });
    const scopes = ['messages:send', 'messages:read', 'messages:content'];
    key = await createKey(front.installation, 'app', ...scopes.flatMap((scope) => ['--scope', scope]));
    atFront = front.client(key);
    atBack = back.client(key);
    // An order waits until every node gives the answers: meanwhile other tests go on.
    const values = { 'tls.acme.domains': ['mail.example.com'], 'tls.acme.agree_terms': true };
    await createControlClient(back.installation.dataDir).putSettings({ values });
  });
  afterAll(async () => {
    nodes?.remove();
    provider?.stop();
    await sink?.close();
    await authority?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  test('each has the ports of its roles, and neither misses the others', async () => {
    expect(front.server.runtime.smtp).toHaveLength(1);
    expect(back.server.runtime.smtp).toEqual([]);
    await vi.waitFor(async () => {
      for (const { server } of [front, back]) {
        const health = JSON.parse((await ask(server, '/health')).body);
        expect(health).toMatchObject({ status: 'healthy', database: { engine: 'postgres' } });
        const lists = health.nodes.map(({ name, roles }: HealthNode) => [name, roles]);
        expect(lists).toEqual([
          ['front', ['api', 'smtp', 'webui']],
          ['back', ['api', 'delivery', 'webui']],
        ]);
      }
    }, SOON);
  });

  test('mail that one takes the other sends, and both tell of it', async () => {
    const id = await atFront.send({ ...LETTER, subject: 'Over there' });
    expect(await atFront.end(id)).toMatchObject({ status: 'delivered', relay: 'out' });
    expect(await atBack.record(id)).toEqual(await atFront.record(id));
    const content = await atBack.get(`/${id}/content`);
    expect(await content.text()).toContain('Subject: Over there');
  });

  test('what one has answered under an idempotency key the other answers again', async () => {
    const post = (client: Client, text: string) =>
      fetch(client.messages, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': 'order-7',
        },
        body: JSON.stringify({ ...LETTER, text }),
      });
    const first = await post(atFront, 'x');
    const again = await post(atBack, 'x');
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([
      202,
      202,
      'true',
    ]);
    expect(await again.json()).toEqual(await first.json());
    expect(await post(atBack, 'y')).toMatchObject({ status: 409 });
  });

  test('keys that one makes or revokes hold at the other', async () => {
    const secret = await createKey(back.installation, 'short');
    const client = front.client(secret);
    expect((await client.get('')).status).toBe(200);
    expect(await back.installation.run('keys', 'revoke', 'short')).toMatchObject({ code: 0 });
    await vi.waitFor(async () => expect((await client.get('')).status).toBe(401), SOON);
  });

  test('settings, relays, routes, holds and domains that one stores are in force at the other', async () => {
    admin = await createKey(front.installation, 'admin', '--scope', 'admin');
    const put = { values: { 'api.max_recipients': 2 } };
    expect(await operate(back, admin, 'putSettings', put)).toMatchObject({ status: 200 });
    const relay = ['out-2', '--type', 'smtp', '--host', '127.0.0.1', '--port', String(sink.port)];
    expect(await back.installation.run('relays', 'add', ...relay)).toMatchObject({ code: 0 });
    expect(await back.installation.run('queue', 'pause', 'out-2')).toMatchObject({ code: 0 });
    expect(await back.installation.run('domains', 'add', 'example.org')).toMatchObject({ code: 0 });
    const many = { ...LETTER, to: ['a@example.net', 'b@example.net', 'c@example.net'], dryRun: true };
    await vi.waitFor(async () => {
      expect((await atFront.post(many)).status).toBe(400);
      const [queue, domains] = await Promise.all([json(front, 'queue'), json(front, 'domains', 'list')]);
      expect(queue).toMatchObject({
        lanes: expect.arrayContaining([expect.objectContaining({ lane: 'out-2', state: 'paused' })]),
      });
      expect(JSON.stringify(domains)).toContain('example.org');
    }, SOON);
  });

  test('who is signed in at one is signed in at the other, and is told of what happens there', async () => {
    const visitor = await Visitor.signIn(front.server, 'admin', PASSWORD);
    expect(await visitor.session(back.server)).toMatchObject({ state: 'signed_in', user: { name: 'admin' } });
    const hints = await visitor.listen(front.server);
    try {
      await createKey(back.installation, 'seen-elsewhere');
      await vi.waitFor(() => expect(hints.has('keys')).toBe(true), SOON);
    } finally {
      hints.end();
    }
  });

  test('a sign-in with a provider that begins at one ends at the other, and only once', async () => {
    const begun = await Visitor.call(front.server, 'provider_begin', { returnTo: '/queue' });
    const { url } = begun.body as SessionCalls['provider_begin']['answer'];
    const request = { search: `?${provider.authorize(url)}` };
    // To this provider, the answer that is brought again is a new one.
    const again = { search: `?${provider.authorize(url)}` };
    expect(await Visitor.call(back.server, 'provider', request, begun.cookie)).toMatchObject({
      status: 200,
      body: { returnTo: '/queue', view: { state: 'signed_in', user: { name: 'ann', role: 'admin' } } },
    });
    expect(await Visitor.call(front.server, 'provider', again, begun.cookie)).toMatchObject({
      status: 401,
      body: { code: 'provider_refused', detail: expect.stringContaining('was used before') },
    });
  });

  test('what one has under way the other shows', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    sink.script = { DATA: () => ({ after: released, reply: '354 Go ahead' }) };
    const id = await atBack.send({ ...LETTER, subject: 'Held' });
    await vi.waitFor(async () => {
      const [health, metrics, queue] = await Promise.all([
        ask(front.server, '/health'),
        ask(front.server, '/metrics'),
        json(front, 'queue'),
      ]);
      expect(JSON.parse(health.body).relays).toContainEqual(
        expect.objectContaining({ name: 'out', inflight: 1 }),
      );
      expect(metrics.body).toContain('\nsvc_relay_inflight{relay="out"} 1\n');
      expect(queue).toMatchObject({
        lanes: expect.arrayContaining([
          expect.objectContaining({ lane: 'out', inFlight: 1, concurrency: expect.any(Number) }),
        ]),
        totals: { inFlight: 1 },
      });
    }, SOON);
    sink.script = {};
    release();
    await atFront.end(id);
  });

  test('a certificate is ordered once; each answers the authority, and serves it', async () => {
    await vi.waitFor(async () => {
      const shown = await Promise.all([front, back].map(({ server }) => certificateAt(server.runtime.webui)));
      expect(shown[0]).toMatch(/^CN=Test Authority /);
      expect(shown[1]).toBe(shown[0]);
    }, SOON);
    expect(authority.orders).toHaveLength(1);
    expect(proofs).toHaveLength(1);
    expect(proofs[0]?.[1]).toBe(proofs[0]?.[0]);
  });

  test('a node that was killed is missing until it is forgotten, and an alert until it is back', async () => {
    third = await nodes.start('third', { roles: ['webui'] });
    await vi.waitFor(async () => expect(await namesAt(front)).toEqual(['front', 'back', 'third']), SOON);
    await third.server.end('SIGKILL');
    const age = (ms: number) =>
      postgres.run(`UPDATE ${SCHEMA}.nodes SET last_seen_at = last_seen_at - ${ms} WHERE name = 'third'`);
    await age(MISSING_MS);
    await vi.waitFor(async () => {
      const { status, checks } = await healthOf(front.server);
      const missing = checks.find(({ name }) => name === 'node_missing');
      expect([status, missing?.status]).toEqual(['degraded', 'degraded']);
      expect(missing?.detail).toMatch(/^The node third-\d+-[0-9a-f]{8} has not reported/);
    }, SOON);
    await vi.waitFor(async () => {
      await watchNow();
      expect(await goneAt(front, admin)).toMatchObject({ subject: 'node:third', state: 'firing' });
    }, SOON);
    await age(FORGOTTEN_MS);
    await vi.waitFor(async () => {
      expect(await namesAt(front)).toEqual(['front', 'back']);
      expect((await healthOf(front.server)).status).toBe('healthy');
    }, SOON);
    await third.start();
    await vi.waitFor(async () => {
      await watchNow();
      expect(await clearing()).toEqual([{ clears: true }]);
    }, SOON);
  });

  /** The node that watches looks at once when a rule is changed there. */
  const watchNow = async () => {
    const change = { rule: 'node_gone', forSeconds: 0 };
    expect(await operate(back, admin, 'changeAlertRule', change)).toMatchObject({ status: 200 });
  };

  /** Whether alerts of nodes that are gone are about to end. */
  const clearing = () =>
    postgres.run(`SELECT body::jsonb ->> 'clearSince' IS NOT NULL AS clears FROM ${SCHEMA}.alerts
      WHERE body::jsonb ->> 'rule' = 'node_gone'`);

  test('what acts on a node whose server does not run reaches the others', async () => {
    const { installation } = nodes.add('idle');
    const sent = ['--from', 'a@example.com', '--to', 'b@example.net', '--subject', 'Offline', '--text', 'x'];
    const { stdout, stderr, code } = await installation.run('send', ...sent, '--json');
    expect([code, stderr]).toEqual([0, '']);
    await sink.until(() => sink.messages.some(({ content }) => content.includes('Subject: Offline')));
    await vi.waitFor(async () => {
      const { id } = JSON.parse(stdout);
      expect(JSON.parse((await installation.run('messages', 'show', id, '--json')).stdout)).toMatchObject({
        status: 'delivered',
      });
    }, SOON);
    const backup = await installation.run('backup', '/tmp/never.tar');
    expect([backup.code, backup.stderr]).toEqual([1, expect.stringContaining('pg_dump')]);
    const restore = await installation.run('restore', '/tmp/never.tar');
    expect([restore.code, restore.stderr]).toEqual([1, expect.stringContaining('pg_restore')]);
    // A database that takes seconds to open is told as a failure, which says more about a busy machine.
    await vi.waitFor(async () => {
      const { findings } = (await json({ installation }, 'doctor')) as { findings: object[] };
      expect(findings).toContainEqual(expect.objectContaining({ name: 'database', status: 'ok' }));
    }, SOON);
  });

  test('without the database nodes stay up, take nothing, and go on by themselves', async () => {
    // What was written meanwhile is read again: as if the node had been back for a minute.
    await postgres.run(`UPDATE ${SCHEMA}.alerts SET body = jsonb_set(
      body::jsonb, '{clearSince}', to_jsonb((body::jsonb ->> 'clearSince')::bigint - ${CLEAR_MS}))::text
      WHERE body::jsonb ->> 'rule' = 'node_gone'`);
    await postgres.down();
    await vi.waitFor(async () => {
      for (const { server } of [front, back]) {
        expect(await healthOf(server)).toMatchObject({ httpStatus: 503, status: 'critical' });
        expect((await ask(server, '/readyz')).status).toBe(503);
        expect((await ask(server, '/livez')).status).toBe(200);
      }
      expect((await atFront.post(LETTER)).status).toBe(503);
      expect((await atBack.get('')).status).toBe(503);
    }, SOON);
    expect(await handIn(front)).toMatch(/^421 4\.3\.0 /);
    // One that is started meanwhile waits.
    const late = nodes.add('late', { roles: ['webui'] });
    const waiting = late.installation.launch();
    await waiting.printed(/PostgreSQL of database\.url cannot be reached/);
    await postgres.up();
    await waiting.ready();
    await vi.waitFor(async () => {
      expect((await atFront.post(LETTER)).status).toBe(202);
      for (const { server } of [front, back]) expect((await healthOf(server)).httpStatus).toBe(200);
    }, SOON);
    const id = await atFront.send({ ...LETTER, subject: 'After' });
    expect(await atFront.end(id)).toMatchObject({ status: 'delivered' });
    expect(front.server.output.match(/"config\.not_reloaded"/g)).toHaveLength(1);
    await vi.waitFor(async () => {
      await watchNow();
      expect(await goneAt(front, admin)).toMatchObject({ subject: 'node:third', state: 'resolved' });
    }, SOON);
  });

  test('a node that is told to stop leaves at once', async () => {
    expect(await namesAt(front)).toContain('third');
    expect(await third.server.end('SIGTERM')).toBe(0);
    expect(await postgres.run(`SELECT name FROM ${SCHEMA}.nodes WHERE name = 'third'`)).toEqual([]);
    await vi.waitFor(async () => expect(await namesAt(front)).not.toContain('third'), SOON);
  });
});

interface HealthNode {
  readonly name: string;
  readonly roles: readonly string[];
}

/** The names of the nodes that one of them knows of. */
async function namesAt({ server }: Node): Promise<string[]> {
  const { body } = await ask(server, '/health');
  return JSON.parse(body).nodes.map(({ name }: HealthNode) => name);
}

/** The only alert of a node that is gone, as another one tells of it. */
async function goneAt(node: Node, key: string): Promise<unknown> {
  const answer = await operate(node, key, 'listAlerts', {});
  const { alerts } = (await answer.json()) as { readonly alerts: readonly { readonly rule: string }[] };
  const gone = alerts.filter(({ rule }) => rule === 'node_gone');
  expect(gone).toHaveLength(1);
  return gone[0];
}

/** By whom, and under which number, the certificate was issued that a port shows. */
async function certificateAt(port: number | null): Promise<string> {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened = connect({ port: port ?? 0, host: '127.0.0.1', rejectUnauthorized: false });
    opened.once('error', reject).once('secureConnect', () => resolve(opened));
  });
  const found = socket.getPeerX509Certificate();
  socket.destroy();
  return `${found?.issuer} ${found?.serialNumber}`;
}

/** What a node says to the end of a message over SMTP. */
async function handIn({ server }: Node): Promise<string> {
  const client = await SmtpClient.connect(server.runtime.smtp[0] ?? 0);
  await client.reply();
  for (const line of ['EHLO client.example', 'MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.net>', 'DATA'])
    await client.ask(line);
  return await client.ask('Subject: x\r\n\r\nx\r\n.');
}

/** Asks a node for one of the operations. */
function operate({ server }: Node, key: string, operation: string, request: unknown): Promise<Response> {
  return fetch(`${server.api}/api/v1/admin/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
}

/** What a command says at a node, as JSON. */
async function json(
  { installation }: Pick<Node, 'installation'>,
  ...command: readonly string[]
): Promise<unknown> {
  return JSON.parse((await installation.run(...command, '--json')).stdout);
}
