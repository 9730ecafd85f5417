/** Networks fail: a node is cut off from the database, the database from all, a node from the next hop alone. */
import { connect, createServer, type Socket } from 'node:net';
import { expect, type TestContext, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { Book, holdCopies, messagesIn, untilAllIsFinal } from '../crash/book.ts';
import { HttpCustomer } from '../crash/http-customer.ts';
import { type Node, Nodes } from '../e2e/nodes.ts';
import { createKey } from '../e2e/service.ts';
import { describeIf, locate } from '../peers/need.ts';
import { type Cable, canMakeSwitches, Switch } from '../peers/networks.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';

const SCHEMA = 'cuts';
const TIMEOUT = { timeout: 400_000 };
const isPossible = POSTGRES_PROGRAMS.every((program) => locate(program) !== null) && canMakeSwitches();

describeIf(isPossible, 'ip netns', 'networks that fail', () => {
  test.concurrent(
    'a node that is cut off from the database gives way to the others',
    TIMEOUT,
    async (context) => {
      const { members, sink, close } = await world(context);
      const [cut, other] = members;
      await send(cut, 10);
      cut.cable.cut('database');
      await send(other, 10);
      for (const { customer } of members) await customer.untilDelivered(sink);
      await expectRefusal(cut);
      cut.cable.mend('database');
      await cut.customer.sendUntilAcknowledged(cut.node.server);
      await close();
    },
  );

  test.concurrent(
    'nodes that are all cut off from the database take nothing until it is back',
    TIMEOUT,
    async (context) => {
      const { members, close } = await world(context);
      for (const member of members) await send(member, 10);
      for (const { cable } of members) cable.cut('database');
      await Promise.all(members.map(expectRefusal));
      for (const { cable } of members) cable.mend('database');
      for (const { customer, node } of members) await customer.sendUntilAcknowledged(node.server);
      await close();
    },
  );

  test.concurrent(
    'a node that is cut off from the next hop alone lets another send, and takes mail on',
    TIMEOUT,
    async (context) => {
      const { members, sink, close } = await world(context);
      const [cut] = members;
      // Before it has a connection there: one that stands already is waited for as long as the next hop may take to answer.
      cut.cable.cut('upstream');
      await send(cut, 10);
      // While it is still cut off.
      await cut.customer.untilDelivered(sink);
      cut.cable.mend('upstream');
      await close();
    },
  );
});

/** A node, its cable, and who hands in mail to it. */
interface Member {
  readonly node: Node;
  readonly cable: Cable;
  readonly customer: HttpCustomer;
}

/** Two nodes in networks of their own, the first of which holds the only lane, as long as it can. */
async function world({ onTestFinished }: TestContext) {
  const network = new Switch();
  onTestFinished(() => network.remove());
  const [postgres, sink] = await Promise.all([
    Postgres.start(),
    startSmtpSink({ host: network.address('upstream') }),
  ]);
  onTestFinished(async () => void (await Promise.all([postgres.stop(), sink.close()])));
  const book = new Book();
  void book.follow('sink', sink);
  const door = await doorTo(postgres, network.address('database'));
  onTestFinished(() => void door.close());
  const nodes = new Nodes(
    `postgres://waybill@${network.address('database')}:${door.port}/postgres?sslmode=disable`,
    SCHEMA,
    `delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: out, type: smtp, host: ${network.address('upstream')}, port: ${sink.port}, tls: none }]`,
  );
  onTestFinished(() => nodes.remove());
  const members: Member[] = [];
  let key: string | null = null;
  for (const name of ['first', 'second']) {
    const cable = network.connect();
    const node = nodes.add(name, { bind: '0.0.0.0' });
    await node.start(cable.under);
    node.server.host = cable.address;
    key ??= await createKey(node.installation, 'app', ...SCOPES);
    members.push({ node, cable, customer: new HttpCustomer(key) });
  }
  /** Holds that what was acknowledged has arrived, and that what came twice is flagged. */
  const close = async () => {
    for (const { customer } of members) await customer.untilDelivered(sink);
    for (const { node } of members) await untilAllIsFinal(node.server, key ?? '');
    const { store, views } = await openPostgres({ url: postgres.url(), schema: SCHEMA });
    const stored = await messagesIn(views).finally(() => store.close());
    expect([...stored.values()].filter(({ status }) => status !== 'delivered')).toEqual([]);
    holdCopies(book, stored);
  };
  const [first, second] = members;
  if (first === undefined || second === undefined) throw new Error('there are two');
  return { members: [first, second] as const, sink, close };
}

const SCOPES = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);

/** Hands in so many messages, all of which must be taken. */
async function send({ customer, node }: Member, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    const answer = await customer.send(node.server);
    expect(customer.idIn(answer), JSON.stringify(answer)).not.toBeNull();
  }
}

/** Holds that nothing is taken: there is no answer, or it is that there is no database. */
async function expectRefusal({ customer, node }: Member): Promise<void> {
  const answer = await customer.send(node.server);
  expect(answer.status, JSON.stringify(answer)).toBe(503);
}

/** A way to a server from other networks: its own is a socket in the file system. */
async function doorTo(postgres: Postgres, host: string): Promise<{ port: number; close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((outer) => {
    const inner = connect(`${postgres.directory}/.s.PGSQL.5432`);
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: typeof address === 'object' && address !== null ? address.port : 0, close };
}
