/** An installation from SQLite into a PostgreSQL and back, by the two sides themselves. */
import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseQuery } from '../../src/domain/query.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { refuseMoved } from '../../src/migrate/derived.ts';
import { migrate, undo } from '../../src/migrate/migration.ts';
import { openPostgresSide } from '../../src/migrate/postgres-side.ts';
import { Steps } from '../../src/migrate/side.ts';
import { openSqliteSource, openSqliteTarget } from '../../src/migrate/sqlite-side.ts';
import { DELIVERIES, MESSAGES } from '../../src/migrate/tables.ts';
import { MAX_NAMED, verify } from '../../src/migrate/verify.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { writeManyMessages } from '../support/many-messages.ts';
import {
  altered,
  CutOff,
  cutOff,
  placesFor,
  populated,
  rowsIn,
  rowsOf,
  sightOf,
  taskOf,
  using,
} from '../support/migrated-sides.ts';
import { T0 } from './store/fixtures.ts';

/** More than a page of them. */
const MANY = 450;
/** What lies in no part of a day: those many alone, who are of 1970. */
const COUNT_REST = `SELECT (SELECT count(*) FROM deliveries_final_rest) AS deliveries,
  (SELECT count(*) FROM messages_gone_rest) AS messages`;

describeWith(POSTGRES_PROGRAMS, 'a migration', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await Postgres.start();
  });
  afterAll(() => server.stop());

  const openPostgresAt = (url: string) =>
    openPostgresSide({ options: { url, connections: 4 }, node: 'm', clock: systemClock, keyId: 'key' });

  test('there and back gives every row again, and what follows from them', async (context) => {
    const [places, back] = [placesFor(context), placesFor(context)];
    const ids = await populated(places);
    const db = openBetterSqlite3(places.database);
    writeManyMessages(db, 'key_shop', MANY);
    db.close();
    const url = await server.schema();

    await using(openSqliteSource(places, systemClock), async (source) => {
      await using(openPostgresAt(url), async (target) => {
        const moved = await migrate(taskOf(source, target));
        expect(moved).toMatchObject({ differing: 0, differences: [], lostContents: 0, resumed: false });
        expect(moved.tables.filter(({ rows }) => rows === 0)).toEqual([]);
        expect(Object.keys(moved.statuses).sort()).toEqual(['delivered', 'failed', 'queued', 'retrying']);
        expect(moved.contents, 'retention has removed those of one').toBe(ids.length - 1);
      });
    });
    const [rest] = await server.run(COUNT_REST, url);
    expect(rest, 'the past lies in its days').toEqual({ deliveries: '0', messages: String(MANY) });
    const original = openSqlite(places.database);
    await expect(refuseMoved(original.registry)).rejects.toMatchObject({ code: 'store_moved' });
    const before = await sightOf(original);
    expect(before).toMatchObject({
      duplicates: 2,
      waiting: 9,
      isFull: [{ kind: 'full' }],
    });
    expect(before.suppressed).toHaveLength(5);
    expect(before.longTag).toHaveLength(3);
    expect(before.found).toHaveLength(3);
    await original.store.close();
    const moved = await openPostgres({ url, connections: 4 });
    await refuseMoved(moved.registry);
    expect(await sightOf(moved)).toEqual(before);
    await moved.store.close();

    await using(openPostgresAt(url), async (source) => {
      await using(openSqliteTarget(back, systemClock), async (target) => {
        expect(await migrate(taskOf(source, target))).toMatchObject({ differing: 0, lostContents: 0 });
      });
    });
    expect(await rowsIn(back)).toEqual(await rowsIn(places));
    const returned = openSqlite(back.database);
    await refuseMoved(returned.registry);
    await returned.store.index(1);
    const { query } = parseQuery('grüße');
    const newest = await returned.views.search({ query, after: null, before: null, limit: 9 });
    expect(
      newest.messages.map(({ id }) => id),
      'words of the newest come first',
    ).toEqual(ids.slice(-1));
    expect(await sightOf(returned)).toEqual(before);
    // It goes on from there: entries are numbered behind the last.
    await returned.journal.record([
      {
        at: T0,
        actorKind: 'command',
        actor: '',
        sourceAddress: null,
        action: 'a',
        subject: '',
        before: null,
        after: null,
      },
    ]);
    await returned.store.close();
  });

  test('one that is broken off anywhere goes on, and ends the same', async (context) => {
    const places = placesFor(context);
    await populated(places);
    const url = await server.schema();
    await using(openSqliteSource(places, systemClock), async (source) => {
      await using(openPostgresAt(url), async (target) => {
        let broken = 0;
        for (let isDone = false; !isDone; ) {
          const when = broken % 2 === 0 ? 'before' : 'after';
          try {
            const { differing, resumed } = await migrate(taskOf(source, cutOff(target, when)));
            expect({ differing, resumed }).toEqual({ differing: 0, resumed: true });
            isDone = true;
          } catch (error) {
            if (!(error instanceof CutOff)) throw error;
            broken++;
            const unfinished = await openPostgres({ url, connections: 4 });
            await expect(refuseMoved(unfinished.registry)).rejects.toMatchObject({ code: 'store_moved' });
            await unfinished.store.close();
          }
        }
        expect(broken).toBeGreaterThan(10);
        expect(await rowsOf(target)).toEqual(await rowsOf(source));
        await expect(migrate(taskOf(source, target))).rejects.toThrow('already');
      });
    });
  });

  test('what differs is named, and nothing is taken for moved', async (context) => {
    const places = placesFor(context);
    const ids = await populated(places);
    const url = await server.schema();
    await using(openSqliteSource(places, systemClock), async (source) => {
      await using(openPostgresAt(url), async (target) => {
        const subject = Object.keys(MESSAGES.columns).indexOf('subject');
        const [from, lost] = [ids[1] ?? '', ids[2] ?? ''];
        const spoilt = altered(target, (write, shape, rows) => {
          if (shape === MESSAGES)
            return write(rows.map((row) => (row[0] === from ? row.with(subject, 'other') : row)));
          return write(shape === DELIVERIES ? rows.filter((row) => row[0] !== lost) : rows);
        });
        const finish = target.finish.bind(target);
        target.finish = async (possibleDuplicates) => {
          await finish(possibleDuplicates);
          await server.run(
            `UPDATE depths SET waiting = waiting + 1 WHERE lane = 'later';
            UPDATE contents SET bytes = '\\x00' WHERE header IS NOT NULL AND piece = 0 AND segment IN (
              SELECT segment FROM messages WHERE id = '${ids[4]}') AND "offset" = (SELECT "offset" FROM messages WHERE id = '${ids[4]}');
            INSERT INTO holds VALUES ('zzz', 'pause', 1)`,
            url,
          );
        };
        const { differing, differences } = await migrate(taskOf(source, spoilt));
        expect(differences).toEqual([
          `messages ${from}: subject not the same`,
          `messages ${ids[4]}: its contents are not the same`,
          `deliveries ${lost} 0: missing`,
          `holds zzz: only in ${target.name}`,
          `depths: not what follows from the messages in ${target.name}`,
        ]);
        expect(differing).toBe(differences.length);
        await server.run(
          `INSERT INTO holds SELECT 'z' || n, 'pause', 1 FROM generate_series(1, 60) AS n`,
          url,
        );
        const many = await verify(source, target, new Steps(source, () => {}));
        expect([many.differences.length, many.differing]).toEqual([MAX_NAMED, differing + 60]);
        expect(await undo(source)).toBe(target.name);
        await expect(migrate(taskOf(source, target))).rejects.toThrow('Another migration');
      });
    });
    const original = openSqlite(places.database);
    await refuseMoved(original.registry);
    await original.store.close();
  });

  test('contents that were lost before are told of, and stay lost', async (context) => {
    const places = placesFor(context);
    const ids = await populated(places);
    const [segment = ''] = readdirSync(places.spool);
    truncateSync(join(places.spool, segment), 300);
    const url = await server.schema();
    await using(openSqliteSource(places, systemClock), async (source) => {
      await using(openPostgresAt(url), async (target) => {
        const moved = await migrate(taskOf(source, target));
        expect(moved.differing).toBe(0);
        expect(moved.contents + moved.lostContents).toBe(ids.length - 1);
        expect(moved.lostContents).toBeGreaterThan(5);
      });
    });
  });

  test('nothing begins where something is in the way', async (context) => {
    const places = placesFor(context);
    await populated(places);
    const url = await server.schema();
    const nodes = await openPostgres({ url, connections: 4 });
    const node = {
      id: 'n',
      name: 'north',
      roles: [],
      version: '1',
      startedAt: 0,
      sharesWith: null,
      lanes: 0,
      report: '{}',
    };
    await nodes.cluster.beat(node, await nodes.cluster.time());
    await using(openSqliteSource(places, systemClock), async (source) => {
      await using(openPostgresAt(url), async (target) => {
        await expect(migrate(taskOf(source, target))).rejects.toThrow('Nodes are at work');
        await nodes.cluster.leave('n');
        await nodes.registry.putSetting('delivery.default_relay', '"out"');
        await expect(migrate(taskOf(source, target))).rejects.toThrow('is not empty: it has settings');
        expect(await undo(source)).toBeNull();
      });
    });
    await nodes.store.close();
    const db = openBetterSqlite3(places.database);
    db.exec('INSERT INTO restored VALUES (1, 0)');
    db.close();
    await using(openSqliteSource(places, systemClock), async (source) => {
      expect(await source.obstacle()).toContain('waybill queue resume --restored');
    });
    await expect(
      openPostgresSide({ options: { url }, node: 'm', clock: systemClock, keyId: 'another' }),
    ).rejects.toMatchObject({ code: 'store_other_key' });
  });
});
