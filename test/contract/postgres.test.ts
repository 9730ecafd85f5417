import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Database, MAX_PENDING } from '../../src/postgres/database.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import {
  at,
  beginAll,
  DAY,
  message,
  REJECTED,
  read,
  recipient,
  refTo,
  settlement,
  T0,
  takeLane,
} from './store/fixtures.ts';

/** What PostgreSQL alone can do to the store, and what is alone PostgreSQL's to promise. */
describeWith(POSTGRES_PROGRAMS, 'the store over PostgreSQL', () => {
  let server: Postgres;
  let url: string;
  let stores: PostgresStores;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.schema();
    stores = await openPostgres({ url });
  });
  afterEach(() => stores.store.close());

  /** Makes verbs wait until it is closed. */
  async function lockAll(): Promise<Client> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN; LOCK TABLE messages IN ACCESS EXCLUSIVE MODE');
    return client;
  }

  /** The processes of the server that wait for a lock, once there are so many. */
  async function untilWaiting(count: number): Promise<unknown[]> {
    for (;;) {
      const rows = await server.run(
        `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'waybill'`,
      );
      if (rows.length >= count) return rows.map(({ pid }) => pid);
    }
  }

  /** Ends the connection of a verb that waits for a lock, once there is one. */
  async function endWaiting(): Promise<void> {
    const [pid] = await untilWaiting(1);
    // Waits until it is gone.
    await server.run(`SELECT pg_terminate_backend(${pid}, 10000)`);
  }

  it('does again what lost its connection before its end, of which nothing had happened', async () => {
    const lock = await lockAll();
    const accepted = stores.store.accept([message()], at());
    await endWaiting();
    await untilWaiting(1);
    await lock.end();
    expect(await accepted).toMatchObject([{ kind: 'accepted' }]);
    expect((await stores.views.figures(T0)).today.received).toBe(1);
  });

  it('tells whoever asked that the connection was lost again', async () => {
    const lock = await lockAll();
    const accepted = stores.store.accept([message()], at());
    const rejection = expect(accepted).rejects.toMatchObject({ code: 'store_unavailable' });
    await endWaiting();
    await endWaiting();
    await rejection;
    await lock.end();
    expect((await stores.views.figures(T0)).today.received).toBe(0);
  });

  it('is unavailable while the server is down, and there again with it', async () => {
    const record = message();
    await stores.store.accept([record], at());
    await server.down();
    const unavailable = { code: 'store_unavailable' };
    await expect(stores.store.accept([message()], at())).rejects.toMatchObject(unavailable);
    await expect(stores.store.accept([message()], at())).rejects.toMatchObject(unavailable);
    await expect(stores.views.message(record.id)).rejects.toMatchObject(unavailable);
    await expect(openPostgres({ url })).rejects.toMatchObject(unavailable);
    await server.up();
    expect((await read(stores.views, record.id)).message.status).toBe('queued');
    expect(await stores.store.accept([message()], at())).toMatchObject([{ kind: 'accepted' }]);
  });

  it('does again what was rolled back for the sake of others', async () => {
    const database = new Database({ url });
    await stores.registry.putSetting('a', '0');
    await stores.registry.putSetting('b', '0');
    let waiting = 0;
    const bothHold = Promise.withResolvers<void>();
    const add = 'UPDATE settings SET value = value::integer + 1 WHERE name = $1';
    const both = (first: string, second: string) =>
      database.transact(async (db) => {
        await db.run(add, [first]);
        waiting++;
        if (waiting === 2) bothHold.resolve();
        await bothHold.promise;
        await db.run(add, [second]);
      });
    await Promise.all([both('a', 'b'), both('b', 'a')]);
    expect(waiting, 'one of the two ran again').toBeGreaterThan(2);
    const settings = await stores.registry.settings();
    expect([...settings.values()]).toEqual(['2', '2']);
    await database.close();
  });

  it('lets no more wait than it may', async () => {
    const lock = await lockAll();
    const calls = Array.from({ length: MAX_PENDING }, () => stores.store.cancel(['msg_none'], at()));
    await expect(stores.store.cancel(['msg_none'], at())).rejects.toMatchObject({ code: 'store_busy' });
    await lock.end();
    const answers = await Promise.all(calls);
    expect(answers.flat().every((answer) => answer === 'not_found')).toBe(true);
    expect(await stores.store.cancel(['msg_none'], at())).toEqual(['not_found']);
  });

  it('finishes what was asked before it closes, and nothing that comes later', async () => {
    const lock = await lockAll();
    // More than go together at once: some wait for a transaction of their own.
    const records = Array.from({ length: 12 }, () => message());
    const accepted = Promise.all(records.map((record) => stores.store.accept([record], at())));
    await untilWaiting(1);
    const closed = stores.store.close();
    await expect(stores.store.accept([message()], at())).rejects.toMatchObject({ code: 'store_closed' });
    await lock.end();
    expect((await accepted).flat().every(({ kind }) => kind === 'accepted')).toBe(true);
    await closed;
    await expect(stores.views.message('msg_none')).rejects.toMatchObject({ code: 'store_closed' });
    stores = await openPostgres({ url });
    expect((await stores.views.figures(T0)).today.received).toBe(records.length);
  });

  it('refuses lists when too many are under way, of one owner or in all', async () => {
    const lock = await lockAll();
    const list = (keyId: string) =>
      stores.views.list({ owner: { keyId }, statuses: [], before: null, limit: 1 });
    const calls: Promise<unknown>[] = [];
    for (const keyId of ['k1', 'k2', 'k3', 'k4']) {
      for (let i = 0; i < 16; i++) calls.push(list(keyId));
      if (keyId === 'k1') await expect(list(keyId)).rejects.toMatchObject({ code: 'store_busy' });
    }
    await expect(list('k5')).rejects.toMatchObject({ code: 'store_busy' });
    await lock.end();
    await Promise.all(calls);
    expect(await list('k1')).toEqual({ messages: [], next: null });
  });

  it('holds text that PostgreSQL cannot, beside that of others', async () => {
    const lease = await takeLane(stores.store);
    const [nul, half] = ['a\0b', 'a\ud800b'];
    const record = message({
      header: { from: nul, subject: half, messageId: `<${nul}@x>` },
      tags: [nul, half],
      metadata: { [nul]: half },
      idempotency: { key: nul, hash: 'h' },
      deliveries: [recipient({ fence: lease.fence })],
    });
    const other = message();
    await stores.store.accept([record, other], at());
    const unit = refTo(record.id, lease);
    await beginAll(stores.store, [unit], at());
    const reply = { ...REJECTED.reply, text: `${nul}${half}` };
    await stores.store.settle([settlement(unit, [{ kind: 'rejected', reply }])], at());
    const { message: kept, recipients } = await read(stores.views, record.id);
    expect(kept.header).toEqual({ from: 'a\ufffdb', subject: 'a\ufffdb', messageId: '<a\ufffdb@x>' });
    expect(kept).toMatchObject({ tags: [nul, half], metadata: { [nul]: half }, status: 'failed' });
    expect(kept.lastError?.message).toBe(`${nul}${half}`);
    expect(recipients[0]?.lastReply).toBe('a\ufffdba\ufffdb');
    const repeat = message({ idempotency: { key: nul, hash: 'h' } });
    expect(await stores.store.accept([repeat], at())).toEqual([{ kind: 'replayed', id: record.id }]);
    expect((await read(stores.views, other.id)).message.header.subject).toBe('Grüße');
  });

  it('takes a Message-ID that is too long for an index', async () => {
    // Nothing that compresses well: an index takes much of that.
    const letters = Array.from({ length: 1_200 }, (_, n) =>
      String.fromCharCode(0x4e00 + ((n * 7919) % 20_000)),
    );
    const messageId = `<${letters.join('')}@example.com>`;
    const record = message({ header: { from: 'a@example.com', subject: '', messageId } });
    expect(await stores.store.accept([record], at())).toMatchObject([{ kind: 'accepted' }]);
    expect((await read(stores.views, record.id)).message.header.messageId).toBe(messageId);
  });

  it('finds a tag that is too long for an index, and forgets it with its message', async () => {
    const [tag, like] = ['ü'.repeat(5_000), `${'ü'.repeat(4_999)}u`];
    const record = message({ tags: [tag] });
    await stores.store.accept([record, message({ tags: [like] })], at());
    const filter = { tag, to: null, from: null, subject: null, since: null, until: null };
    const page = await stores.views.list({ owner: 'all', statuses: [], before: null, limit: 9, filter });
    expect(page.messages.map(({ id }) => id)).toEqual([record.id]);
    await stores.store.cancel([record.id], at());
    const policy = {
      contentAgeMs: 0,
      contentMaxBytes: 0,
      capturedAgeMs: 0,
      capturedMaxBytes: 0,
      recordAgeMs: 0,
      eventAgeMs: 0,
      feedbackAgeMs: 0,
      maxUnsubscribeLinks: 1000,
    };
    await stores.store.purge(policy, 9, at(DAY));
    expect(await server.run('SELECT id FROM message_tags', url)).toHaveLength(1);
  });
});
