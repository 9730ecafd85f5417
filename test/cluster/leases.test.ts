/** Who dies, or stands still, with much under way: others take over, or it goes on, and can do no harm when it is back. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, type TestContext, test, vi } from 'vitest';
import { LANE_LEASE_MS } from '../../src/engine/contract.ts';
import { Book, holdAcknowledged, holdCopies, messagesIn, readStore, untilAllIsFinal } from '../crash/book.ts';
import { ask, LETTER } from '../crash/customer.ts';
import { HttpCustomer } from '../crash/http-customer.ts';
import { type Node, Nodes } from '../e2e/nodes.ts';
import { configurationFor, createKey, installed } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';

/** What a dead node held is back after this time at most, in ms: its leases end, and are looked for every few seconds. */
const BACK_MS = 60_000;
const SCHEMA = 'leases';
/** Messages that a process has under way when it stands still; the relay allows more. */
const UNDER_WAY = 5;
const TIMEOUT = { timeout: 300_000 };
/** For what must come by itself. */
const PATIENCE = { timeout: 150_000, interval: 100 };

describeWith(POSTGRES_PROGRAMS, 'a node with much under way', () => {
  test.concurrent(
    'is killed: its 500 leases are back within a minute, and all is delivered',
    TIMEOUT,
    async (context) => {
      const world = await World.start(context);
      const { first, sink } = world;
      await world.hang(500);
      const fence = await world.fence();
      await first.server.end('SIGKILL');
      const killedAt = performance.now();
      sink.script = {};
      await vi.waitUntil(async () => (await world.count(`fence = ${fence}`)) === 0, PATIENCE);
      expect(performance.now() - killedAt).toBeLessThan(BACK_MS);
      await vi.waitUntil(async () => (await world.count(`state = 'delivered'`)) === 500, PATIENCE);
      // The dot was on its way: whoever took it may have it twice.
      expect(await world.flagged()).toBe(500);
    },
  );

  test.concurrent(
    'stands still past its lease: what it then has to say is not heard',
    TIMEOUT,
    async (context) => {
      const world = await World.start(context);
      const { first, second, sink } = world;
      const release = await world.hang(50);
      const fence = await world.fence();
      first.server.signal('SIGSTOP');
      sink.script = {};
      await vi.waitUntil(async () => (await world.count(`fence = ${fence}`)) === 0, PATIENCE);
      await vi.waitUntil(async () => (await world.count(`state = 'delivered'`)) === 50, PATIENCE);
      const before = await world.deliveries();
      expect(await world.attempts()).toBe(100);
      release();
      first.server.signal('SIGCONT');
      // It takes mail again, which somebody sends: by then it has told what it had to tell.
      const key = await createKey(second.installation, 'later');
      const id = await vi.waitFor(() => first.client(key).send({ ...LETTER }), PATIENCE);
      expect(await second.client(key).end(id)).toMatchObject({ status: 'delivered' });
      await vi.waitUntil(() => sink.messages.filter(({ taken }) => taken).length === 101, PATIENCE);
      expect((await world.deliveries()).slice(0, 50)).toEqual(before);
      expect(await world.attempts()).toBe(101);
      expect(await world.flagged()).toBe(50);
      const metrics = async () => (await ask(second.server, '/metrics')).body;
      const delivered = 'svc_messages_today{event="delivered"} 51';
      await vi.waitUntil(async () => (await metrics()).includes(delivered), PATIENCE);
    },
  );
});

test.concurrent(
  'the only process over SQLite stands still past its leases: what was under way arrives, what came twice is flagged',
  TIMEOUT,
  async (context) => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    let dots = 0;
    const hangs = () => {
      dots++;
      return { after: promise, reply: '250 2.0.0 Late, but taken' };
    };
    const sink = await startSmtpSink({ script: { DOT: hangs } });
    context.onTestFinished(() => sink.close());
    const book = new Book();
    void book.follow('out', sink);
    const installation = installed(context, configurationFor(sink.port));
    const scopes = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);
    const key = await createKey(installation, 'app', ...scopes);
    const server = await installation.start();
    const customer = new HttpCustomer(key);
    for (let sent = 0; sent < UNDER_WAY; sent++) await customer.send(server);
    await vi.waitUntil(() => dots === UNDER_WAY, PATIENCE);
    server.signal('SIGSTOP');
    await pause(LANE_LEASE_MS + 2_000);
    sink.script = {};
    release();
    server.signal('SIGCONT');
    await untilAllIsFinal(server, key);
    expect(customer.idIn(await customer.send(server)), 'it takes mail as before').not.toBeNull();
    await customer.untilDelivered(sink);
    expect(await server.end('SIGTERM')).toBe(0);
    const stored = await readStore(installation.dataDir, messagesIn);
    holdAcknowledged(book, stored, customer.acknowledged);
    holdCopies(book, stored);
  },
);

/** Two nodes over one database; the first holds the only lane. */
class World {
  readonly first: Node;
  readonly second: Node;
  readonly sink: SmtpSink;
  readonly #postgres: Postgres;

  private constructor(postgres: Postgres, sink: SmtpSink, nodes: readonly [Node, Node]) {
    this.#postgres = postgres;
    this.sink = sink;
    [this.first, this.second] = nodes;
  }

  static async start({ onTestFinished }: TestContext): Promise<World> {
    const [postgres, sink] = await Promise.all([Postgres.start(), startSmtpSink()]);
    const nodes = new Nodes(
      postgres.url(),
      SCHEMA,
      `delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none, max_concurrency: 1000 }]`,
    );
    onTestFinished(async () => {
      nodes.remove();
      await sink.close();
      await postgres.stop();
    });
    const first = await nodes.start('first');
    const world = new World(postgres, sink, [first, nodes.add('second')]);
    await vi.waitUntil(
      async () => (await world.#rows('SELECT 1 FROM lanes WHERE lease_until > 0')).length > 0,
      PATIENCE,
    );
    await world.second.start();
    return world;
  }

  /** Hands in so many messages, whose dots are not answered, until all are under way. What is returned answers them. */
  async hang(count: number): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let dots = 0;
    this.sink.script = {
      DOT: () => {
        dots++;
        return { after: promise, reply: '250 2.0.0 Late, but taken' };
      },
    };
    const key = await createKey(this.first.installation, 'app');
    const response = await fetch(`${this.first.server.api}/api/v1/messages/batch`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        messages: Array.from({ length: count }, () => ({ ...LETTER, to: ['a@example.net'] })),
      }),
    });
    expect(response.ok, await response.text()).toBe(true);
    await vi.waitUntil(() => dots === count, PATIENCE);
    expect(await this.count(`state = 'processing' AND begun_at IS NOT NULL`)).toBe(count);
    return resolve;
  }

  /** Under which the lane is held. */
  async fence(): Promise<number> {
    const [row] = await this.#rows(`SELECT fence FROM lanes WHERE lane = 'out'`);
    return Number(row?.['fence']);
  }

  /** How many deliveries are so. */
  async count(condition: string): Promise<number> {
    const [row] = await this.#rows(`SELECT count(*) AS count FROM deliveries WHERE ${condition}`);
    return Number(row?.['count']);
  }

  /** Every delivery as it is stored, the oldest message's first. */
  deliveries(): Promise<Record<string, unknown>[]> {
    return this.#rows('SELECT * FROM deliveries ORDER BY message, index');
  }

  /** How many messages may have been delivered twice. */
  async flagged(): Promise<number> {
    const [row] = await this.#rows('SELECT count(*) AS count FROM messages WHERE possible_duplicate');
    return Number(row?.['count']);
  }

  /** How many attempts were recorded. */
  async attempts(): Promise<number> {
    const [row] = await this.#rows('SELECT count(*) AS count FROM attempts');
    return Number(row?.['count']);
  }

  #rows(sql: string): Promise<Record<string, unknown>[]> {
    return this.#postgres.run(sql, `search_path%3D${SCHEMA}`);
  }
}
