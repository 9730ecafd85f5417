import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { RateLimiter } from '../../src/ingest/rate.ts';
import { RateExchange } from '../../src/ingest/shared.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** The windows of keys (contract §6) over nodes that share one PostgreSQL. */
describeWith(POSTGRES_PROGRAMS, 'rates of keys over several nodes', () => {
  let server: Postgres;
  let stores: PostgresStores;
  let clock: ManualClock;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async ({ onTestFinished }) => {
    clock = new ManualClock();
    stores = await openPostgres({ url: await server.schema(), connections: 2 });
    onTestFinished(() => stores.store.close());
  });

  function newNode(name: string, log: Log = silentLog, cluster = stores.cluster) {
    const limiter = new RateLimiter({ maxWindows: 100, isShared: true });
    const exchange = new RateExchange({ limiter, cluster, node: name, clock, log });
    /** How many of `count` sends are let through. */
    const send = (count: number, limit = 100) =>
      Array.from({ length: count }, () => limiter.take('key', 'send', limit, clock.mono())).filter(
        (verdict) => verdict?.allowed,
      ).length;
    return { limiter, exchange, send, turn: () => exchange.turn() };
  }

  it('hold together: what one let through, the others count within a second', async () => {
    const [a, b] = [newNode('a'), newNode('b')];
    let total = 0;
    let last = 0;
    for (let turn = 0; turn < 100; turn++) {
      const sent = a.send(7) + b.send(5);
      // The overshoot is what the others let through since they were heard last.
      if (total < 100) last = sent;
      total += sent;
      await clock.advance(400);
      // Each tells before it hears; b also hears what a just told.
      await a.turn();
      await b.turn();
    }
    expect(total).toBeGreaterThanOrEqual(100);
    expect(total).toBeLessThanOrEqual(100 + last);
  });

  it('are known to a node that joins, and to one that was started anew', async () => {
    const first = newNode('a-1');
    expect(first.send(60)).toBe(60);
    await first.turn();
    await clock.advance(30_000);
    expect(first.send(30)).toBe(30);
    await first.turn();
    for (const name of ['a-2', 'b']) {
      const late = newNode(name);
      await late.turn();
      expect(late.send(100), name).toBe(10);
    }
    await clock.advance(33_000);
    const last = newNode('c');
    await last.turn();
    expect(last.send(100)).toBe(70);
  });

  it('are told late, not twice and not lost, where the database did not answer', async () => {
    const told: string[] = [];
    const log: Log = { ...silentLog, warn: (event) => void told.push(event) };
    let isAway = true;
    const exchangeRates: PostgresStores['cluster']['exchangeRates'] = async (...args) => {
      if (isAway) throw new Error('away');
      return stores.cluster.exchangeRates(...args);
    };
    const [cut, other] = [newNode('a', log, { ...stores.cluster, exchangeRates }), newNode('b')];
    for (let turn = 0; turn < 10; turn++) {
      cut.send(6);
      await cut.turn();
      await other.turn();
      await clock.advance(1_000);
    }
    expect(told, 'once, for the whole outage').toEqual(['rates.not_exchanged']);
    isAway = false;
    for (let turn = 0; turn < 3; turn++) {
      await cut.turn();
      await other.turn();
    }
    expect(other.send(100)).toBe(40);
  });

  it('are removed from the database, whoever wrote them', async () => {
    const gone = newNode('gone');
    gone.send(5);
    await gone.turn();
    const count = async () => (await stores.database.rows('SELECT * FROM key_rates')).length;
    const other = newNode('b');
    await other.turn();
    expect(await count()).toBe(1);
    await clock.advance(65_000);
    await other.turn();
    await other.turn();
    expect(await count()).toBe(0);
  });
});
