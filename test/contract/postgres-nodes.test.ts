import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { dayOf } from '../../src/domain/quota.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { addPerson, sessionOf, signIn } from './store/accounts.ts';
import {
  apiKey,
  at,
  beginAll,
  DEFERRED,
  HOUR,
  message,
  recipient,
  refOf,
  refTo,
  settlement,
  T0,
  takeLane,
} from './store/fixtures.ts';

const NODES = ['a', 'b', 'c', 'd'];
const WAITING = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'waybill'`;

/** Several programs over one database, all at once. */
describeWith(POSTGRES_PROGRAMS, 'nodes over one PostgreSQL', () => {
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
    nodes = await Promise.all(NODES.map(() => openPostgres({ url, connections: 2 })));
    const [one] = nodes;
    if (one === undefined) throw new Error('no node');
    first = one;
    return async () => {
      for (const { store } of nodes) await store.close();
    };
  });

  /** Compares what is kept by differences with what it is derived from. */
  async function checkBooks(): Promise<void> {
    const depths =
      'SELECT lane, waiting, processing FROM depths WHERE waiting + processing > 0 ORDER BY lane';
    const derived = `SELECT lane, (count(*) FILTER (WHERE state <> 'processing'))::integer AS waiting,
        (count(*) FILTER (WHERE state = 'processing'))::integer AS processing
      FROM deliveries WHERE state IN ('queued', 'retrying', 'processing') GROUP BY lane ORDER BY lane`;
    expect(await server.run(depths, url)).toEqual(await server.run(derived, url));
    const open = `FROM messages WHERE status NOT IN ('delivered', 'failed')`;
    const bytes = await server.run(`SELECT coalesce(sum(length), 0)::bigint AS value ${open}`, url);
    expect(await server.run(`SELECT value FROM gauges WHERE name = 'queued_bytes'`, url)).toEqual(bytes);
    const queues = await server.run(
      `SELECT key_id, count(*) AS messages ${open} AND key_id IS NOT NULL GROUP BY key_id ORDER BY key_id`,
      url,
    );
    expect(await server.run('SELECT * FROM key_queues WHERE messages > 0 ORDER BY key_id', url)).toEqual(
      queues,
    );
    const wrong = `SELECT id FROM messages WHERE (queued, processing, retrying, delivered, failed) <> (
      SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'processing'),
        count(*) FILTER (WHERE state = 'retrying'), count(*) FILTER (WHERE state = 'delivered'),
        count(*) FILTER (WHERE state = 'failed') FROM deliveries WHERE message = id)`;
    expect(await server.run(wrong, url)).toEqual([]);
  }

  it('claim 2,000 deliveries, none twice', async () => {
    const lanes = ['w', 'x', 'y', 'z'];
    const records = Array.from({ length: 1_000 }, (_, place) => {
      const lane = lanes[place % lanes.length] ?? '';
      // Half of a message's recipients are elsewhere: two lanes' claims meet at its row.
      const other = lanes[(place + 1) % lanes.length] ?? '';
      return message({
        deliveries: [recipient({ lane, relay: lane }), recipient({ lane: other, relay: other })],
      });
    });
    await first.store.accept(records, at());
    const leases = await first.store.acquireLanes(lanes, 0, T0 + HOUR, at());
    const claimed: string[] = [];
    const claimAll = async ({ store }: PostgresStores, place: number) => {
      const ordered = [...leases.slice(place), ...leases.slice(0, place)];
      const requests = ordered.map((lease) => ({
        ...lease,
        limit: 7,
        maxRecipients: 9,
        order: 'high_first' as const,
      }));
      for (;;) {
        const answers = await store.claim(requests, at());
        for (const { units } of answers)
          for (const unit of units)
            claimed.push(...unit.deliveries.map(({ index }) => `${unit.messageId}/${index}`));
        if (answers.every(({ nextDueAt }) => nextDueAt === null)) return;
      }
    };
    await Promise.all(nodes.map(claimAll));
    expect(claimed).toHaveLength(2_000);
    expect(new Set(claimed).size).toBe(2_000);
    await checkBooks();
  });

  it('hold a lane one at a time, under fences that rise', async () => {
    const fences: number[] = [];
    let holder: string | null = null;
    const work = async ({ store }: PostgresStores, place: number) => {
      const node = NODES[place] ?? '';
      for (let turn = 0; turn < 40; turn++) {
        const [lease] = await store.acquireLanes(['out'], 0, T0 + HOUR, at(0, node));
        if (lease === undefined) continue;
        expect(holder).toBeNull();
        holder = node;
        fences.push(lease.fence);
        await store.renewLanes([lease], T0 + HOUR, at(0, node));
        holder = null;
        await store.releaseLanes([lease], at(0, node));
      }
    };
    await Promise.all(nodes.map(work));
    expect(fences.length).toBeGreaterThan(0);
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });

  it('fill the queue to its limits and not beyond', async () => {
    const offer = async (
      count: number,
      keyId: string | null,
      maxBytes: number,
      maxMessagesPerKey: number,
    ) => {
      const answers = await Promise.all(
        Array.from({ length: count }, (_, place) =>
          nodes[place % nodes.length]?.store.accept(
            [message({ keyId, content: { segment: 1, offset: 0, length: 10 } })],
            at(),
            { maxBytes, maxMessagesPerKey },
          ),
        ),
      );
      return answers.flat().filter((answer) => answer?.kind === 'accepted').length;
    };
    expect(await offer(60, 'key_one', 1e9, 25)).toBe(25);
    expect(await offer(60, null, 500, 1)).toBe(25);
    await checkBooks();
  });

  it('accept a submission once under its idempotency key', async () => {
    const keys = ['k1', 'k2', 'k3'];
    const answers = await Promise.all(
      nodes.map(({ store }, place) => {
        const ordered = place % 2 === 0 ? keys : keys.toReversed();
        return store.accept(
          ordered.map((key) => message({ idempotency: { key, hash: 'h' } })),
          at(),
        );
      }),
    );
    const kinds = answers.flat().map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(keys.length);
    expect(kinds.filter((kind) => kind === 'replayed')).toHaveLength(keys.length * 3);
  });

  it('come to one version of the routing table that all of them publish', async () => {
    const publish = (definition: string) =>
      Promise.all(
        nodes.map(({ registry }) => registry.publishRoutes({ publishedAt: T0, origin: 'file', definition })),
      );
    expect(await publish('{}')).toEqual([2, 2, 2, 2]);
    expect(await publish('{"rules":[]}')).toEqual([3, 3, 3, 3]);
  });

  it('notice every change of relays, settings, domains and holds, and nothing else', async () => {
    const { registry } = first;
    const [, second] = nodes;
    const changes: (() => Promise<unknown>)[] = [
      () => registry.putRelay({ name: 'out', definition: '{}', secret: null, disabled: false }),
      () => registry.putSetting('a', '1'),
      () => registry.putSettings(new Map([['b', '2']])),
      () => registry.putDomain({ name: 'shop.example', definition: '{}', secrets: '{}' }),
      () => registry.removeDomain('shop.example'),
      () => registry.putHold('out', { kind: 'pause', since: T0 }),
      () => registry.putHold('out', null),
      () => registry.removeRelay('out'),
    ];
    const seen = new Set([await second?.registry.revision()]);
    for (const change of changes) {
      await change();
      seen.add(await second?.registry.revision());
    }
    expect(seen.size).toBe(1 + changes.length);
    await registry.publishRoutes({ publishedAt: T0, origin: 'file', definition: '{}' });
    expect(seen).toContain(await second?.registry.revision());
  });

  it('keep an administrator when each of two loses the rights on another node', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const names = [`root${turn}`, `other${turn}`];
      for (const name of names) {
        await first.accounts.addUser({ name, role: 'admin', createdAt: T0 });
        await first.accounts.setPassword(name, { hash: 'hash', expected: null, keep: null });
      }
      const answers = await Promise.all(
        names.map((name, place) =>
          nodes[place]?.accounts.changeUser(name, { role: 'viewer', disabled: null }),
        ),
      );
      expect(answers.map((answer) => answer?.kind).sort()).toEqual(['done', 'last_admin']);
      // The one who is left makes room for the next two.
      await server.run('DELETE FROM users', url);
    }
  });

  it('open no session under a password that another is changing', async () => {
    const { accounts } = first;
    await addPerson(accounts, 'ann');
    const changing = new Client(url);
    await changing.connect();
    await changing.query(`BEGIN; UPDATE users SET password = 'another'`);
    const answer = signIn(accounts, sessionOf('ann', 1));
    await expect.poll(() => server.run(WAITING)).not.toHaveLength(0);
    await changing.query('COMMIT');
    await changing.end();
    expect(await answer).toEqual({ kind: 'stale' });
    expect(await accounts.sessions('ann', T0, 0)).toEqual([]);
  });

  it('give a name to one of the keys that all of them rename', async () => {
    for (const id of NODES) await first.keyring.create(apiKey(id), `hash of ${id}`);
    for (let turn = 0; turn < 10; turn++) {
      const name = `shop ${turn}`;
      const answers = await Promise.all(
        nodes.map(({ keyring }, place) => keyring.update({ ...apiKey(NODES[place] ?? ''), name })),
      );
      expect(answers.sort()).toEqual(['taken', 'taken', 'taken', 'updated']);
    }
  });

  it('come to no harm when all verbs meet at the same messages, in any order', async () => {
    const lease = await takeLane(first.store);
    const records = Array.from({ length: 20 }, () => message({ deliveries: [recipient(), recipient()] }));
    await first.store.accept(records, at());
    const ids = records.map(({ id }) => id);
    const moves = ids.map((messageId) => {
      return {
        messageId,
        index: 0,
        fromLane: 'out',
        to: { relay: 'new', lane: 'new' },
        rule: null,
        group: ['new'],
      };
    });
    const attempts = async ({ store }: PostgresStores) => {
      const [answer] = await store.claim(
        [{ ...lease, limit: 9, maxRecipients: 9, order: 'high_first' as const }],
        at(),
      );
      const units = (answer?.units ?? []).map(refOf).reverse();
      await beginAll(store, units, at());
      await store.settle(
        units.map((unit) =>
          settlement(
            unit,
            unit.indexes.map(() => DEFERRED),
          ),
        ),
        at(),
      );
    };
    const work = async (node: PostgresStores, place: number) => {
      const { store } = node;
      for (let turn = 0; turn < 15; turn++) {
        const ordered = (turn + place) % 2 === 0 ? ids : ids.toReversed();
        const expiresAt = T0 + 48 * HOUR;
        await Promise.all([
          attempts(node),
          store.cancel(ordered.slice(0, 12), at()),
          store.requeue(
            ordered.slice(5).map((id) => ({ id, expiresAt })),
            at(),
          ),
          store.reassign(turn % 2 === 0 ? moves : moves.toReversed(), at()),
          store.accept([message({ idempotency: { key: `k${turn}`, hash: 'h' } })], at()),
        ]);
      }
    };
    await Promise.all(nodes.map(work));
    await checkBooks();
    expect(server.log).not.toContain('deadlock');
  });

  it('never exceed a quota together, nor wait for each other in a circle', async () => {
    const lease = await takeLane(first.store);
    const day = dayOf(T0);
    const limit = 40;
    const relays = ['p', 'q', 'r'];
    let taken = 0;
    const work = async ({ store }: PostgresStores, place: number) => {
      for (let turn = 0; turn < 12; turn++) {
        const records = Array.from({ length: 8 }, () =>
          message({ deliveries: [recipient({ fence: lease.fence })] }),
        );
        await store.accept(records, at());
        const units = records.map(({ id }) => refTo(id, lease));
        // Each names the relays in an order of its own.
        const ordered = (turn + place) % 2 === 0 ? relays : relays.toReversed();
        const wishes = units.map((unit, nth) => {
          const relay = ordered[(nth + place) % relays.length] ?? 'p';
          return { ...unit, recipients: [], quota: { relay, day, recipients: 1 + (nth % 2), limit } };
        });
        const answers = await store.begin(wishes, at());
        const begun = wishes.filter((_, nth) => answers[nth] === 'begun');
        taken += begun.reduce((sum, { quota }) => sum + quota.recipients, 0);
        const back = begun.filter((_, nth) => nth % 3 === 0);
        taken -= back.reduce((sum, { quota }) => sum + quota.recipients, 0);
        const settled = begun.map((unit) => ({
          ...settlement(unit, [DEFERRED]),
          refund: back.includes(unit) ? unit.quota : null,
        }));
        await Promise.all([
          store.settle(turn % 2 === 0 ? settled : settled.toReversed(), at()),
          store.purge(KEEP_ALL, 9, at()),
        ]);
      }
    };
    await Promise.all(nodes.map(work));
    const used = await first.views.quotaUsed(day);
    expect(Math.max(...used.values())).toBeLessThanOrEqual(limit);
    expect([...used.values()].reduce((sum, count) => sum + count)).toBe(taken);
    expect(taken, 'every quota was all but used up').toBeGreaterThan(relays.length * (limit - 5));
    expect(server.log).not.toContain('deadlock');
  });
});

const KEEP_ALL = {
  contentAgeMs: HOUR,
  contentMaxBytes: 1e9,
  capturedAgeMs: HOUR,
  capturedMaxBytes: 1e9,
  recordAgeMs: 1e12,
  eventAgeMs: 1e12,
  feedbackAgeMs: 1e12,
  maxUnsubscribeLinks: 1000,
};
