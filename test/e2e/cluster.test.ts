/** Two servers over one PostgreSQL: whatever one of them does, the other knows. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ask } from '../crash/customer.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { type Node, Nodes } from './nodes.ts';
import { type Client, createKey } from './service.ts';

const SCHEMA = 'cluster';
const LETTER = { from: 'a@example.com', to: ['b@example.net'], text: 'x' };
/** What one node does the other knows within a second; a busy machine is given more. */
const SOON = { timeout: 20_000, interval: 50 };

describeWith(POSTGRES_PROGRAMS, 'two nodes', () => {
  let postgres: Postgres;
  let sink: SmtpSink;
  let nodes: Nodes;
  /** Takes mail and sends none. */
  let front: Node;
  /** Takes mail by the API, and sends. */
  let back: Node;
  let key: string;
  let atFront: Client;
  let atBack: Client;

  beforeAll(async () => {
    [postgres, sink] = await Promise.all([Postgres.start(), startSmtpSink()]);
    nodes = new Nodes(
      postgres.url(),
      SCHEMA,
      `delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]`,
    );
    front = await nodes.start('front', { roles: ['api', 'smtp', 'webui'] });
    back = await nodes.start('back', { roles: ['api', 'delivery', 'webui'] });
    const scopes = ['messages:send', 'messages:read', 'messages:content'];
    key = await createKey(front.installation, 'app', ...scopes.flatMap((scope) => ['--scope', scope]));
    atFront = front.client(key);
    atBack = back.client(key);
  }, 60_000);
  afterAll(async () => {
    nodes?.remove();
    await sink?.close();
    await postgres?.stop();
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
    const admin = await createKey(front.installation, 'admin', '--scope', 'admin');
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
});

interface HealthNode {
  readonly name: string;
  readonly roles: readonly string[];
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
async function json({ installation }: Node, ...command: readonly string[]): Promise<unknown> {
  return JSON.parse((await installation.run(...command, '--json')).stdout);
}
