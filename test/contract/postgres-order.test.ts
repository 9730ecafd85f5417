import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Session } from '../../src/domain/account.ts';
import { dayOf } from '../../src/domain/quota.ts';
import { FORGOTTEN_MS } from '../../src/store/cluster.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { addPerson, sessionOf, signIn } from './store/accounts.ts';
import {
  apiKey,
  at,
  attempt,
  DELIVERED,
  HOUR,
  message,
  POLICY,
  recipient,
  refTo,
  settlement,
  T0,
  takeLane,
} from './store/fixtures.ts';

const NODES = 3;
/** Nobody comes near them, but they are asked for. */
const LIMITS = { maxBytes: 1e9, maxMessagesPerKey: 1e6 };

/** A circle costs a second on a server as it comes, and everybody who moves the same figures waits with those in it. */
describeWith(POSTGRES_PROGRAMS, 'transactions of several nodes never wait for each other in a circle', () => {
  let server: Postgres;
  let url: string;
  let nodes: PostgresStores[];
  let first: PostgresStores;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.schema();
    nodes = await Promise.all(Array.from({ length: NODES }, () => openPostgres({ url, connections: 3 })));
    const [one] = nodes;
    if (one === undefined) throw new Error('no node');
    first = one;
    return async () => {
      for (const { store } of nodes) await store.close();
    };
  });

  it('when they accept within limits what others take off quotas and settle, of several keys', async () => {
    const lease = await takeLane(first.store);
    const quota = { relay: 'p', day: dayOf(T0), recipients: 1, limit: 1e6 };
    const send = async ({ store }: PostgresStores, key: number) => {
      for (let turn = 0; turn < 20; turn++) {
        const deliveries = [recipient({ fence: lease.fence })];
        const record = message({ keyId: `key_${key % NODES}`, deliveries });
        await store.accept([record], at(), LIMITS);
        const unit = refTo(record.id, lease);
        await store.begin([{ ...unit, recipients: [], quota }], at());
        await store.settle([settlement(unit, [DELIVERED])], at());
      }
    };
    // Of three senders on a node two share a transaction while the third's runs: one's settlement rides with another's mail.
    await Promise.all(nodes.flatMap((node, place) => [0, 1, 2].map((more) => send(node, place + more))));
    expect(server.log).not.toContain('deadlock');
  });

  it('when one removes what is no longer kept while others fill a lane and a queue that are empty', async () => {
    const lease = await takeLane(first.store);
    const record = message({ deliveries: [recipient({ fence: lease.fence })] });
    await first.store.accept([record], at());
    await attempt(first.store, refTo(record.id, lease), [DELIVERED], at());
    const filling = new Client(url);
    await filling.connect();
    await filling.query(`BEGIN; UPDATE gauges SET value = value WHERE name = 'sent_bytes'`);
    const purging = first.store.purge(NOTHING_KEPT, 50, at());
    await expect.poll(() => server.run(WAITING)).not.toHaveLength(0);
    await filling.query(
      'UPDATE key_queues SET messages = messages; UPDATE depths SET waiting = waiting; COMMIT',
    );
    await filling.end();
    expect(await purging).toMatchObject({ contents: 1 });
    expect(server.log).not.toContain('deadlock');
    expect(await server.run('SELECT lane FROM depths', url)).toEqual([]);
  });

  it('when one takes back what is lost, and ends in time what a clock left in the future', async () => {
    const ahead = at(10 * HOUR, 'other');
    await first.store.acquireLanes(['a'], 0, ahead.now + HOUR, ahead);
    const lost = await takeLane(first.store, 'b');
    await first.store.accept([message({ deliveries: [recipient({ lane: 'b', fence: lost.fence })] })], at());
    const working = new Client(url);
    await working.connect();
    await working.query(`BEGIN; UPDATE lanes SET node = node WHERE lane = 'b'`);
    const now = at(2 * HOUR);
    const reclaiming = first.store.reclaim({ ...RECLAIM, longestLeaseMs: HOUR }, now);
    await expect.poll(() => server.run(WAITING)).not.toHaveLength(0);
    await working.query(`UPDATE lanes SET node = node WHERE lane = 'a'; COMMIT`);
    await working.end();
    expect(await reclaiming).toMatchObject({ released: 1 });
    expect(server.log).not.toContain('deadlock');
    expect(await server.run(`SELECT lease_until::float8 AS until FROM lanes WHERE lane = 'a'`, url)).toEqual([
      { until: now.now + HOUR },
    ]);
  });

  it('when they are back at the same time after so long that each takes the others for gone', async () => {
    const about = {
      roles: ['delivery'],
      version: '1',
      startedAt: T0,
      sharesWith: null,
      lanes: 0,
      report: '{}',
    };
    for (let turn = 0; turn < 20; turn++) {
      const now = T0 + turn * (FORGOTTEN_MS + 1);
      const beats = nodes.map(({ cluster }, place) =>
        cluster.beat({ ...about, id: `node_${place}`, name: `${place}` }, now),
      );
      await Promise.all(beats);
    }
    expect(server.log).not.toContain('deadlock');
  });

  it('when one records the use of sessions of which another ends some', async () => {
    const { accounts } = first;
    await accounts.claimFirst('root', 'hash', T0);
    for (const id of ['a', 'b'])
      await accounts.addSession(
        { ...SESSION, hash: id, id },
        { passwordHash: 'hash', limit: 9, replaces: null },
      );
    const ending = new Client(url);
    await ending.connect();
    // Whoever ends several locks them as they lie.
    await ending.query(`BEGIN; DELETE FROM sessions WHERE id = 'b'`);
    const uses = new Map(['a', 'b'].map((id) => [id, T0 + 5]));
    await accounts.keepSessions(uses, [], { now: T0, seenAfter: 0 });
    await ending.query('COMMIT');
    await ending.end();
    expect(await accounts.sessions('root', T0, 0)).toMatchObject([{ id: 'a', lastSeenAt: T0 + 5 }]);
  });

  it('when one signs in a user whom others change', async () => {
    const { accounts } = first;
    await addPerson(accounts, 'ann');
    const again = async (work: (turn: number) => Promise<unknown>) => {
      for (let turn = 0; turn < 40; turn++) await work(turn);
    };
    await Promise.all([
      again((turn) => signIn(accounts, sessionOf('ann', turn))),
      ...nodes.map((node) =>
        again(() => node.accounts.setPassword('ann', { hash: 'ann-password', expected: null, keep: null })),
      ),
    ]);
    expect(server.log).not.toContain('deadlock');
  });

  it('when they write to the same keys and settings, each in its own order', async () => {
    const ids = Array.from({ length: 9 }, (_, place) => `key_${place}`);
    for (const id of ids) await first.keyring.create(apiKey(id), `hash of ${id}`);
    await Promise.all(
      nodes.map(async ({ keyring, registry }, place) => {
        const own = place % 2 === 0 ? ids : ids.toReversed();
        for (let turn = 0; turn < 40; turn++) {
          await keyring.touch(new Map(own.map((id) => [id, T0 + turn])));
          await registry.putSettings(new Map(own.map((id) => [id, `${turn}`])));
        }
      }),
    );
    expect(server.log).not.toContain('deadlock');
  });

  it('when one changes a key whose use others record', async () => {
    const keys = ['key_1', 'key_2'].map((id) => apiKey(id));
    for (const key of keys) await first.keyring.create(key, `hash of ${key.id}`);
    const uses = new Map(keys.map(({ id }) => [id, T0]));
    const again = (times: number, work: () => Promise<unknown>) =>
      Array.from({ length: times }).reduce<Promise<unknown>>(
        (before) => before.then(work),
        Promise.resolve(),
      );
    await Promise.all(
      nodes.flatMap(({ keyring }) => [
        again(40, () => keyring.touch(uses)),
        ...keys.map((key) => again(40, () => keyring.update({ ...key, rateLimit: 5 }))),
      ]),
    );
    expect(server.log).not.toContain('deadlock');
  });
});

const SESSION: Omit<Session, 'id'> = {
  hash: '',
  user: 'root',
  stage: 'full',
  createdAt: T0,
  lastSeenAt: T0,
  expiresAt: T0 + 1e9,
  sourceAddress: '192.0.2.1',
  agent: '',
  offered: null,
};

const WAITING = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'waybill'`;

const RECLAIM = { seize: false, policy: POLICY, dice: 0.5, limit: 100 };

const NOTHING_KEPT = {
  contentAgeMs: 0,
  contentMaxBytes: 0,
  capturedAgeMs: 0,
  capturedMaxBytes: 0,
  recordAgeMs: 1e12,
  eventAgeMs: 1e12,
  feedbackAgeMs: 1e12,
  maxUnsubscribeLinks: 1000,
};
