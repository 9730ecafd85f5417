import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Queries } from '../../src/postgres/database.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import {
  at,
  DELIVERED,
  MINUTE,
  message,
  read,
  recipient,
  refTo,
  settlement,
  T0,
  takeLane,
} from './store/fixtures.ts';

/** Calls that share a transaction over PostgreSQL: each as if it had had its own. */
describeWith(POSTGRES_PROGRAMS, 'calls that share transactions', () => {
  let server: Postgres;
  let stores: PostgresStores;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    stores = await openPostgres({ url: await server.schema(), allowUnsafe: true });
  });
  afterEach(() => stores.store.close());

  it('commits concurrent messages together, through acceptance, begin and settling', async () => {
    const { store, views, writer } = stores;
    const lease = await takeLane(store);
    const records = Array.from({ length: 60 }, () =>
      message({ deliveries: [recipient({ fence: lease.fence })] }),
    );
    const before = writer.commits();
    await Promise.all(records.map((record) => store.accept([record], at())));
    const units = records.map(({ id }) => refTo(id, lease));
    // Each at a time of its own: that is what its settlement is known by.
    const times = units.map((_, place) => place);
    await Promise.all(
      units.map((unit, place) => store.begin([{ ...unit, recipients: [], quota: null }], at(times[place]))),
    );
    const answers = await Promise.all(
      units.map((unit, place) => {
        const one = settlement(unit, [DELIVERED]);
        const startedAt = T0 + (times[place] ?? 0);
        return store.settle([{ ...one, attempt: { ...one.attempt, startedAt } }], at(place));
      }),
    );
    expect(answers.flat().every(({ kind }) => kind === 'settled')).toBe(true);
    expect(writer.commits() - before).toBeLessThan(60);
    const last = await read(views, records.at(-1)?.id ?? '');
    expect(last.message).toMatchObject({ status: 'delivered', updatedAt: T0 + 59, statusAt: T0 + 59 });
    expect((await views.figures(T0)).today).toMatchObject({ received: 60, delivered: 60 });
  });

  it('counts each call in the minute of its own time, under its own node', async () => {
    const { store, views } = stores;
    const late = 3 * MINUTE;
    const calls = [at(0), at(late), at(late, 'b'), at(0, 'b')];
    await Promise.all(calls.map((stamp) => store.accept([message()], stamp)));
    expect((await views.figures(T0 + late)).today.received).toBe(4);
    expect((await views.figures(T0 + late + 4 * MINUTE)).last5m.received).toBe(2);
  });

  it('lets a call refuse what one before it in the same transaction has taken', async () => {
    const { store } = stores;
    const limits = { maxBytes: 1e9, maxMessagesPerKey: 3 };
    // The first goes alone; what comes meanwhile goes together.
    const calls = Array.from({ length: 6 }, () => store.accept([message()], at(), limits));
    const free = Array.from({ length: 2 }, () => store.accept([message({ keyId: 'key_two' })], at()));
    const kinds = (await Promise.all(calls)).flat().map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(3);
    expect(kinds.filter((kind) => kind === 'queue_full')).toHaveLength(3);
    expect((await Promise.all(free)).flat().map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
    const idempotency = { key: 'k', hash: 'h' };
    const same = Array.from({ length: 5 }, () =>
      store.accept([message({ keyId: 'key_three', idempotency })], at()),
    );
    const answers = (await Promise.all(same)).flat();
    expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'replayed')).toHaveLength(4);
  });

  it('accepts the others where one message is a bug', async () => {
    const { store, views } = stores;
    const known = message();
    await store.accept([known], at());
    const records = Array.from({ length: 8 }, () => message());
    const calls = [...records.slice(0, 4), message({ id: known.id }), ...records.slice(4)];
    const answers = await Promise.allSettled(calls.map((record) => store.accept([record], at())));
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array(4).fill('fulfilled'),
      'rejected',
      ...Array(4).fill('fulfilled'),
    ]);
    expect(answers[4]).toMatchObject({ reason: { code: 'store_bug' } });
    for (const { id } of records) expect((await read(views, id)).message.status).toBe('queued');
    expect((await views.figures(T0)).today.received).toBe(9);
  });

  it('fails a transaction by the statement that failed, though nobody waited for it', async () => {
    const { database, registry } = stores;
    await registry.putSetting('a', '1');
    const failing = (after: (db: Queries) => Promise<unknown>) =>
      database.transact(async (db) => {
        db.send(`UPDATE settings SET value = '2' WHERE name = 'a'`);
        db.send('SELECT 1 / $1::integer', [0]);
        return after(db);
      });
    const bug = { code: 'store_bug', message: 'division by zero' };
    await expect(failing(async () => null)).rejects.toMatchObject(bug);
    await expect(failing((db) => db.rows('SELECT 1'))).rejects.toMatchObject(bug);
    expect(await registry.settings()).toEqual(new Map([['a', '1']]));
  });

  it('marks attempts as begun while others wait for figures that somebody has locked', async () => {
    const { store, database } = stores;
    const lease = await takeLane(store);
    const record = message({ deliveries: [recipient({ fence: lease.fence })] });
    await store.accept([record], at());
    const limits = { maxBytes: 1e9, maxMessagesPerKey: 3 };
    const locked = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const holding = database.transact(async (db) => {
      await db.rows(`SELECT value FROM gauges WHERE name = 'queued_bytes' FOR UPDATE`);
      locked.resolve();
      await letGo.promise;
    });
    await locked.promise;
    let accepted = false;
    const waiting = store.accept([message()], at(), limits).then(() => {
      accepted = true;
    });
    expect(await store.begin([{ ...refTo(record.id, lease), recipients: [], quota: null }], at())).toEqual([
      'begun',
    ]);
    expect(accepted).toBe(false);
    letGo.resolve();
    await Promise.all([holding, waiting]);
  });

  it('goes by indexes, whatever the server makes of new tables', async () => {
    const show = `SELECT current_setting('enable_seqscan') AS whole, current_setting('plan_cache_mode') AS plans`;
    expect(await stores.database.rows(show)).toEqual([{ whole: 'off', plans: 'force_generic_plan' }]);
  });
});
