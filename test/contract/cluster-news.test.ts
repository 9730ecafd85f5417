import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Cluster } from '../../src/store/cluster.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { at, message, recipient, T0 } from './store/fixtures.ts';

/** What nodes over one PostgreSQL tell each other of lanes. */
describeWith(POSTGRES_PROGRAMS, 'news between nodes', () => {
  let server: Postgres;
  let url: string;
  let opened: (PostgresStores | Ear)[];
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async ({ onTestFinished }) => {
    url = await server.schema();
    opened = [];
    onTestFinished(async () => {
      for (const one of opened) await ('heard' in one ? one.end() : one.store.close());
    });
  });

  /** A node; of another schema if that is given. */
  async function node(schema = url): Promise<PostgresStores> {
    const stores = await openPostgres({ url: schema, connections: 2 });
    opened.unshift(stores);
    return stores;
  }

  /** One that listens already. */
  async function listener({ cluster }: PostgresStores): Promise<Ear> {
    const ear = new Ear(cluster);
    opened.unshift(ear);
    await ear.until(1);
    return ear;
  }

  it('reach every other node, and not the one that tells', async () => {
    const [one, two, three] = [await node(), await node(), await node()];
    const ears = [await listener(one), await listener(two), await listener(three)];
    await one.cluster.tell(['a', 'mx grüße.example']);
    await two.cluster.tell(['b']);
    await ears[2]?.until(3);
    await ears[1]?.until(2);
    await ears[0]?.until(2);
    const heard = ears.map((ear) => ear.heard);
    expect(heard).toEqual([
      [null, ['b']],
      [null, ['a', 'mx grüße.example']],
      [null, ['a', 'mx grüße.example'], ['b']],
    ]);
  });

  it('stay within their schema', async () => {
    const elsewhere = await server.schema();
    const [here, there, other] = [await node(), await node(elsewhere), await node(elsewhere)];
    const ear = await listener(there);
    await here.cluster.tell(['here']);
    await other.cluster.tell(['there']);
    await ear.until(2);
    expect(ear.heard).toEqual([null, ['there']]);
  });

  it('of more lanes than can be named say to look everywhere', async () => {
    const [one, two] = [await node(), await node()];
    const ear = await listener(two);
    const lane = `direct ${'ü'.repeat(150)}.example`;
    const some = Array.from({ length: 20 }, (_, nth) => `${lane} ${nth}`);
    await one.cluster.tell(some);
    await one.cluster.tell([...some, ...some]);
    await one.cluster.tell([]);
    await one.cluster.tell(['end']);
    await ear.until(4);
    expect(ear.heard).toEqual([null, some, null, ['end']]);
  });

  it('that cannot be read say to look everywhere', async () => {
    const ear = await listener(await node());
    for (const payload of ['', '{', '7', '{"from":1}', '{"from":"x","lanes":[]}', '{"from":1,"lanes":[7]}'])
      await server.run(`SELECT pg_notify('waybill_' || md5(current_schema()), '${payload}')`, url);
    await ear.until(7);
    expect(ear.heard).toEqual(Array(7).fill(null));
  });

  it('that may have been missed while the server was away are told of when it is back', async () => {
    const [one, two] = [await node(), await node()];
    const ear = await listener(two);
    await server.down();
    await server.up();
    await ear.until(2);
    await one.cluster.tell(['a']);
    await ear.until(3);
    expect(ear.heard).toEqual([null, null, ['a']]);
  });

  it('are heard no more once listening has ended', async () => {
    const [one, two] = [await node(), await node()];
    const [ended, ear] = [await listener(two), await listener(two)];
    ended.end();
    await one.cluster.tell(['a']);
    await ear.until(2);
    expect(ended.heard).toEqual([null]);
    await vi.waitUntil(async () => (await listening()).length === 1, 60_000);
  });

  /** The server's processes that serve a listening connection. */
  function listening(): Promise<unknown[]> {
    return server.run(
      `SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_backend_pid() AS process%'`,
    );
  }

  it('find what is due in some of many lanes', async () => {
    const { cluster, store } = await node();
    const lanes = Array.from({ length: 300 }, (_, nth) => `direct d${nth}.example`);
    const later = new Set(lanes.filter((_, nth) => nth % 3 === 0));
    await store.accept(
      lanes.map((lane) =>
        message({ deliveries: [recipient({ lane, dueAt: later.has(lane) ? T0 + 1 : T0 })] }),
      ),
      at(),
    );
    const asked = lanes.slice(0, 150);
    const due = asked.filter((lane) => !later.has(lane));
    expect((await cluster.dueLanes([...asked, 'nobody'], T0)).sort()).toEqual(due.sort());
    expect((await cluster.dueLanes(asked, T0 + 1)).sort()).toEqual(asked.sort());
  });
});

/** Hears news until it is ended. */
class Ear {
  readonly heard: (readonly string[] | null)[] = [];
  readonly end: () => void;
  #onHeard = () => {};

  constructor(cluster: Cluster) {
    this.end = cluster.listen((lanes) => {
      this.heard.push(lanes);
      this.#onHeard();
    });
  }

  /** Resolves once it has heard so much. */
  async until(count: number): Promise<void> {
    while (this.heard.length < count)
      await new Promise<void>((resolve) => {
        this.#onHeard = resolve;
      });
  }
}
