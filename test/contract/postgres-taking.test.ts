import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { SharedSpool } from '../../src/spool/postgres/postgres-spool.ts';
import { openPostgresSpool } from '../../src/spool/postgres/postgres-spool.ts';
import { WHOLE_READ_BYTES } from '../../src/spool/spool.ts';
import type { AcceptRecord } from '../../src/store/accepting.ts';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import type { Taken, Taking } from '../../src/store/taking.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { entryOf, readAll } from '../support/spool-entry.ts';
import { at, message, read } from './store/fixtures.ts';

const LIMITS = { maxBytes: 1e12, maxMessagesPerKey: 1e6 };
const SEGMENT_BYTES = 64 * 1024;

/** Messages that go into PostgreSQL, contents and facts in one transaction. */
describeWith(POSTGRES_PROGRAMS, 'contents and facts taken together', () => {
  let server: Postgres;
  let url: string;
  let stores: PostgresStores;
  let spool: SharedSpool;
  let taking: Taking;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.schema();
    stores = await openPostgres({ url, allowUnsafe: true });
    const { database } = stores;
    const clock = new ManualClock();
    spool = await openPostgresSpool({ database, node: 'a', clock, segmentBytes: SEGMENT_BYTES });
    taking = spool.takingWith(stores.store);
    return async () => {
      await spool.close();
      await stores.store.close();
    };
  });

  /** A message that says this. */
  function taken(text: string, change: Partial<AcceptRecord> = {}): Taken {
    const facts = message(change);
    const { content } = entryOf(text);
    return {
      messageId: facts.id,
      content,
      wish: { keyId: facts.keyId, sizeBytes: content.sizeBytes, idempotency: facts.idempotency },
      recipients: facts.deliveries.map(({ recipient }) => recipient),
      record: (ref) => ({ ...facts, content: ref, sizeBytes: content.sizeBytes }),
    };
  }

  const take = (...messages: Taken[]) =>
    taking.take(messages, { at: () => at(), limits: LIMITS, counted: () => {} });

  /** What a message says, by its facts. */
  async function textOf({ messageId }: Taken): Promise<string> {
    const { content } = (await read(stores.views, messageId)).message;
    if (content === null) throw new Error('it has no contents');
    return (await readAll(await spool.read(content))).toString();
  }

  const rows = (sql: string) => server.run(sql, url);

  /** Takes this process for dead, as other nodes do: nothing may be written to what it opened. */
  const sealAll = () => rows('UPDATE spool_segments SET bytes = 0 WHERE bytes IS NULL');

  /** Lets no transaction end that takes mail, until the answer is called. */
  async function holdFigures(): Promise<() => Promise<void>> {
    await take(taken('makes the figure that all move'));
    const [locked, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = stores.database.transact(async (db) => {
      await db.rows(`SELECT value FROM gauges WHERE name = 'queued_bytes' FOR UPDATE`);
      locked.resolve();
      await letGo.promise;
    });
    await locked.promise;
    return () => {
      letGo.resolve();
      return held;
    };
  }

  it('commits once for both, and says so only then', async () => {
    await take(taken('the first opens a segment'));
    const before = stores.writer.commits();
    const one = taken('both');
    expect(await take(one)).toEqual([{ kind: 'accepted', leased: [false] }]);
    expect(stores.writer.commits() - before).toBe(1);
    expect(await textOf(one)).toBe('both');
    const [written] = await rows(
      `SELECT count(DISTINCT xmin::text) AS transactions, count(*) AS rows FROM (
        SELECT xmin FROM messages_open WHERE id = '${one.messageId}'
        UNION ALL SELECT xmin FROM contents WHERE bytes = 'both') AS both_rows`,
    );
    expect(written).toMatchObject({ transactions: '1', rows: '2' });
  });

  it('shares transactions among those who come meanwhile, in as few statements', async () => {
    const all = Array.from({ length: 100 }, (_, place) => taken(`letter ${place}`));
    const before = stores.writer.commits();
    await Promise.all(all.map((one) => take(one)));
    expect(stores.writer.commits() - before).toBeLessThan(10);
    for (const [place, one] of all.entries()) expect(await textOf(one)).toBe(`letter ${place}`);
  });

  it('leaves neither where the facts are refused by the database', async () => {
    const known = taken('known');
    await take(known);
    const again = taken('never to be seen', { id: known.messageId });
    const good = Array.from({ length: 3 }, (_, place) => taken(`good ${place}`));
    const answers = await Promise.allSettled([take(again), ...good.map((one) => take(one))]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', ...Array(3).fill('fulfilled')]);
    expect(answers[0]).toMatchObject({ reason: { code: 'store_bug' } });
    expect(await rows(`SELECT 1 FROM contents WHERE bytes = 'never to be seen'`)).toEqual([]);
    for (const [place, one] of good.entries()) expect(await textOf(one)).toBe(`good ${place}`);
  });

  it('goes on in another segment where others have sealed it, and nobody else notices', async () => {
    const lease = await stores.store.acquireLanes(['out'], 1, at().now + 60_000, at());
    await take(taken('before'));
    await sealAll();
    const mail = Array.from({ length: 5 }, (_, place) => taken(`after ${place}`));
    const others = Array.from({ length: 5 }, () => stores.store.accept([message()], at()));
    const answers = await Promise.all([...mail.map((one) => take(one)), ...others]);
    expect(answers.flat().every(({ kind }) => kind === 'accepted')).toBe(true);
    for (const [place, one] of mail.entries()) expect(await textOf(one)).toBe(`after ${place}`);
    expect(lease).toHaveLength(1);
    const used = await rows('SELECT DISTINCT segment FROM contents ORDER BY segment');
    expect(used).toHaveLength(2);
  });

  it('seals a segment that is full once nobody writes to it any more', async () => {
    const text = 'x'.repeat(5000);
    const letGo = await holdFigures();
    // All find places while none is written: what waits goes into several segments in one transaction.
    const mail = Array.from({ length: 60 }, () => taken(text));
    const taking = mail.map((one) => take(one));
    await vi.waitFor(async () => expect(await rows('SELECT FROM spool_segments')).toHaveLength(5), 60_000);
    const before = stores.writer.commits();
    await Promise.all([letGo(), ...taking]);
    // The lock's, the first message's, and that of all others.
    expect(stores.writer.commits() - before).toBe(3);
    for (const one of mail) expect(await textOf(one)).toBe(text);
    await spool.close();
    const segments = await rows(
      `SELECT bytes, (SELECT sum(octet_length(bytes) + 36) FROM contents WHERE contents.segment = s.segment) AS held
      FROM spool_segments AS s ORDER BY segment`,
    );
    expect(segments.length).toBeGreaterThan(3);
    for (const { bytes, held } of segments) expect(Number(bytes)).toBe(Number(held));
  });

  it('puts no more than about 4 MiB of contents into one transaction', async () => {
    const letGo = await holdFigures();
    const mail = Array.from({ length: 9 }, () => take(taken('z'.repeat(900 * 1024))));
    // One for each of them, which is larger than a segment is meant to be, and the first.
    await vi.waitFor(async () => expect(await rows('SELECT FROM spool_segments')).toHaveLength(10), 60_000);
    const before = stores.writer.commits();
    await Promise.all([letGo(), ...mail]);
    // The lock's, the first message's, and two of four messages.
    expect(stores.writer.commits() - before).toBe(4);
  });

  it('never names a segment idle that a transaction under way writes to', async () => {
    const text = 'x'.repeat(20_000);
    const mail = Array.from({ length: 12 }, () => take(taken(text)));
    const named: number[] = [];
    const looking = (async () => {
      for (let times = 0; times < 20; times++) named.push(...(await spool.idle()));
    })();
    await Promise.all([...mail, looking]);
    for (const segment of new Set(named)) {
      const live = await stores.store.liveSegments([segment]);
      expect(live.get(segment)).toBeGreaterThan(0);
    }
  });

  it('takes what is large before its facts, beside letters', async () => {
    const large = taken('y'.repeat(WHOLE_READ_BYTES + 1));
    const letter = taken('letter');
    const answers = await Promise.all([take(large), take(letter)]);
    expect(answers.flat().map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
    expect((await textOf(large)).length).toBe(WHOLE_READ_BYTES + 1);
    expect(await textOf(letter)).toBe('letter');
    expect(spool.flushes()).toBe(1);
  });

  it('answers repeats and full queues as without contents', async () => {
    const idempotency = { key: 'k', hash: 'h' };
    const first = taken('once', { idempotency });
    await take(first);
    expect(await take(taken('twice', { idempotency }))).toMatchObject([{ kind: 'replayed' }]);
    const full = taking.take([taken('too much')], {
      at: () => at(),
      limits: { ...LIMITS, maxMessagesPerKey: 1 },
      counted: () => {},
    });
    expect(await full).toEqual([{ kind: 'queue_full', whose: 'key', tooLarge: false }]);
  });

  it('is refused once the spool is closed', async () => {
    await spool.close();
    await expect(take(taken('late'))).rejects.toMatchObject({ code: 'spool_closed' });
  });

  it('is refused for the while that the server is away, and goes on when it is back', async () => {
    await take(taken('before'));
    await server.down();
    await expect(take(taken('meanwhile'))).rejects.toMatchObject({ code: 'store_unavailable' });
    await server.up();
    const one = taken('after');
    await take(one);
    expect(await textOf(one)).toBe('after');
    expect(await rows(`SELECT 1 FROM contents WHERE bytes = 'meanwhile'`)).toEqual([]);
  });
});
