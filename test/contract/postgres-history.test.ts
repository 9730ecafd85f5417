import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openPostgres, type PostgresStores } from '../../src/store/postgres/open.ts';
import { Partitions } from '../../src/store/postgres/partitions.ts';
import type { PurgePolicy } from '../../src/store/upkeep.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import {
  at,
  attempt,
  attemptsOf,
  DAY,
  DELIVERED,
  message,
  REJECTED,
  read,
  recipient,
  refTo,
  T0,
  takeLane,
} from './store/fixtures.ts';

const KEEP: PurgePolicy = {
  contentAgeMs: 7 * DAY,
  contentMaxBytes: 1e9,
  capturedAgeMs: 3 * DAY,
  capturedMaxBytes: 1e9,
  recordAgeMs: 90 * DAY,
  eventAgeMs: 90 * DAY,
  feedbackAgeMs: 90 * DAY,
  maxUnsubscribeLinks: 1000,
};
const ENDLESS = T0 + 900 * DAY;
/** When the day of `T0` is over, since that began. */
const REST_OF_DAY = 12 * 3_600_000;

describeWith(POSTGRES_PROGRAMS, 'the past over PostgreSQL', () => {
  let server: Postgres;
  let url: string;
  let stores: PostgresStores;
  let partitions: Partitions;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.schema();
    stores = await openPostgres({ url, allowUnsafe: true, connections: 4, daysAhead: null });
    partitions = new Partitions(stores.database, 0);
  });
  afterEach(() => stores.store.close());

  /** Where the rows of a table lie. */
  async function placesOf(table: string): Promise<string[]> {
    const rows = await server.run(
      `SELECT tableoid::regclass::text AS place FROM ${table} ORDER BY place`,
      url,
    );
    return rows.map(({ place }) => String(place));
  }

  /** The parts of days that there are, of one table. */
  async function partsOf(table: string, of = url): Promise<string[]> {
    const rows = await server.run(
      `SELECT inhrelid::regclass::text AS part FROM pg_inherits
        WHERE inhparent = '${table}'::regclass AND inhrelid::regclass::text !~ 'rest' ORDER BY part`,
      of,
    );
    return rows.map(({ part }) => String(part));
  }

  /** Accepts a message the short way and settles it at `T0 + ms`. */
  async function ended(outcome: typeof DELIVERED | typeof REJECTED, ms = 0): Promise<string> {
    const lease = await takeLane(stores.store, 'out', at(ms));
    const record = message({ tags: ['t'], deliveries: [recipient({ fence: lease.fence })] });
    await stores.store.accept([record], at(ms));
    await attempt(stores.store, refTo(record.id, lease), [outcome], at(ms));
    await stores.store.releaseLanes([lease], at(ms));
    return record.id;
  }

  it('makes the parts of days before they begin, once, whoever is first', async () => {
    const ahead = Array.from({ length: 3 }, () => new Partitions(stores.database, 2));
    await Promise.all(ahead.map((one) => one.prepare(T0)));
    const days = ['20261120', '20261121', '20261122'];
    for (const table of ['messages_gone', 'deliveries_final', 'attempts', 'message_tags', 'message_words'])
      expect(await partsOf(table)).toEqual(days.map((day) => `${table}_${day}`));
  });

  it('makes them when it is opened, and from then on while it purges', async () => {
    const other = await server.schema();
    const opened = await openPostgres({ url: other, allowUnsafe: true, daysAhead: 0 });
    expect(await partsOf('messages_gone', other)).toHaveLength(1);
    await opened.store.purge(
      {
        ...KEEP,
        recordAgeMs: Number.MAX_SAFE_INTEGER,
        eventAgeMs: Number.MAX_SAFE_INTEGER,
        feedbackAgeMs: Number.MAX_SAFE_INTEGER,
      },
      9,
      {
        node: 'a',
        now: ENDLESS,
      },
    );
    expect(await partsOf('messages_gone', other)).toHaveLength(2);
    await opened.store.purge(KEEP, 9, { node: 'a', now: ENDLESS });
    expect(await partsOf('messages_gone', other), 'nothing was of the first').toHaveLength(1);
    await opened.store.close();
  });

  it('leaves a day in the rest of which something lies there, and makes the next', async () => {
    const id = await ended(DELIVERED);
    await new Partitions(stores.database, 1).prepare(T0);
    expect(await partsOf('attempts')).toEqual(['attempts_20261121']);
    expect(await placesOf('attempts')).toEqual(['attempts_rest']);
    expect(await attemptsOf(stores.views, id)).toHaveLength(1);
  });

  it('moves what is final out of the way, and back when it is retried', async () => {
    await partitions.prepare(T0);
    const id = await ended(REJECTED);
    expect(await placesOf('messages')).toEqual(['messages_kept']);
    expect(await placesOf('deliveries')).toEqual(['deliveries_final_20261120']);
    expect(await placesOf('message_tags')).toEqual(['message_tags_20261120']);
    await stores.store.requeue([{ id, expiresAt: ENDLESS }], at());
    expect(await placesOf('messages')).toEqual(['messages_open']);
    expect(await placesOf('deliveries')).toEqual(['deliveries_open']);
    expect((await read(stores.views, id)).message.status).toBe('queued');
    await stores.store.cancel([id], at(1));
    await stores.store.purge(KEEP, 9, at(8 * DAY));
    expect(await placesOf('messages')).toEqual(['messages_gone_20261120']);
    expect((await read(stores.views, id)).message).toMatchObject({ status: 'failed', content: null });
  });

  it('drops a day when all of it has outlived retention, and counts right', async () => {
    await partitions.prepare(T0);
    const ids = [await ended(DELIVERED), await ended(REJECTED, 2 * DAY)];
    await stores.store.index(9);
    const purge = (ms: number) => stores.store.purge(KEEP, 9, at(ms));
    expect(await purge(9 * DAY)).toMatchObject({ contents: 2, records: 0 });
    expect(await purge(91 * DAY), 'the one may go, the other not yet').toMatchObject({ records: 0 });
    expect((await read(stores.views, ids[0] ?? '')).message.status).toBe('delivered');
    expect(await purge(92 * DAY)).toEqual({ contents: 0, records: 2, more: true });
    expect(await purge(92 * DAY)).toEqual({ contents: 0, records: 0, more: false });
    for (const id of ids) expect(await stores.views.message(id)).toBeNull();
    for (const table of ['messages', 'deliveries', 'attempts', 'message_tags', 'message_words']) {
      expect(await placesOf(table)).toEqual([]);
      expect(await partsOf(table)).not.toContain(`${table}_20261120`);
    }
    expect(await stores.store.liveSegments([1])).toEqual(new Map([[1, 0]]));
    expect((await stores.views.figures(T0)).spool).toMatchObject({ incoming: 0, processing: 0, failed: 0 });
  });

  it('keeps a day of which something waits, and removes the rest of it by and by', async () => {
    await partitions.prepare(T0);
    const gone = await ended(DELIVERED);
    const waiting = message({ expiresAt: ENDLESS });
    await stores.store.accept([waiting], at());
    await stores.store.purge(KEEP, 9, at(9 * DAY));
    expect(await stores.store.purge(KEEP, 9, at(96 * DAY))).toMatchObject({ records: 0 });
    expect(await stores.store.purge(KEEP, 9, at(97 * DAY + REST_OF_DAY))).toMatchObject({ records: 1 });
    expect(await stores.views.message(gone)).toBeNull();
    expect(await placesOf('attempts')).toEqual([]);
    expect(await partsOf('messages_gone')).toHaveLength(1);
    await stores.store.cancel([waiting.id], at(98 * DAY));
    await stores.store.purge(KEEP, 9, at(200 * DAY));
    expect(await stores.store.purge(KEEP, 9, at(200 * DAY))).toMatchObject({ records: 0, more: false });
    expect(await partsOf('messages_gone')).toEqual([]);
    expect(await stores.views.message(waiting.id)).toBeNull();
  });

  it('drops a day later when somebody reads in it, and keeps nobody waiting for that', async () => {
    await partitions.prepare(T0);
    const id = await ended(DELIVERED);
    await stores.store.purge(KEEP, 9, at(9 * DAY));
    const reader = new Client({ connectionString: url });
    await reader.connect();
    await reader.query('BEGIN; SELECT count(*) FROM messages');
    expect(await stores.store.purge(KEEP, 9, at(92 * DAY))).toEqual({ contents: 0, records: 0, more: false });
    await reader.query('COMMIT');
    await reader.end();
    expect(await stores.store.purge(KEEP, 9, at(92 * DAY)), 'not at once').toMatchObject({ records: 0 });
    expect((await read(stores.views, id)).message.status).toBe('delivered');
    expect(await stores.store.purge(KEEP, 9, at(92 * DAY + 600_000))).toMatchObject({ records: 1 });
  });
});
