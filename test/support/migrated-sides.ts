/** Both ends of a migration, what is seen of them through the store, and ways in which one breaks off. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { parseQuery } from '../../src/domain/query.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { COPIED } from '../../src/migrate/copied.ts';
import type { MigrationTask } from '../../src/migrate/migration.ts';
import type { Side } from '../../src/migrate/side.ts';
import { openSqliteSource, type SqlitePlaces } from '../../src/migrate/sqlite-side.ts';
import { MESSAGE_TAGS, PLACE, type Row, type TableShape } from '../../src/migrate/tables.ts';
import { holdable } from '../../src/postgres/text.ts';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import { EVERY_EVENT } from '../../src/store/events.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { SuppressionList } from '../../src/store/suppressions.ts';
import type { Views } from '../../src/store/views.ts';
import { POLICY, T0 } from '../contract/store/fixtures.ts';
import { populate } from './populated-store.ts';

/** A folder for the SQLite end, removed after the test. */
export function placesFor({ onTestFinished }: TestContext): SqlitePlaces {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-moved-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { name: folder, database: join(folder, 'waybill.db'), spool: join(folder, 'spool') };
}

/** A migration, as the command begins it. */
export function taskOf(source: Side, target: Side): MigrationTask {
  return { source, target, policyOf: async () => POLICY, random: seededRandom(1), tell() {} };
}

/** Makes an installation in which everything is that can be; the ids of its messages. */
export async function populated(places: SqlitePlaces): Promise<string[]> {
  const stores = openSqlite(places.database);
  const spool = await openSegmentSpool({ directory: places.spool, onFailure() {} });
  try {
    return await populate({ ...stores, spool });
  } finally {
    await spool.close();
    await stores.store.close();
  }
}

/** Uses a side, and closes it. */
export async function using<T>(opening: Promise<Side>, use: (side: Side) => Promise<T>): Promise<T> {
  const side = await opening;
  try {
    return await use(side);
  } finally {
    await side.close();
  }
}

/** Every row by its table, but for where contents lie and what PostgreSQL cannot hold. */
export async function rowsOf(side: Side): Promise<Map<string, Row[]>> {
  const found = new Map<string, Row[]>();
  for (const shape of COPIED)
    found.set(
      shape.name,
      (await side.page(shape, null, 10_000)).map((row) => comparable(shape, row)),
    );
  return found;
}

/** The same of a data directory, with the index of tags, which PostgreSQL abridges. */
export function rowsIn(places: SqlitePlaces): Promise<Map<string, Row[]>> {
  return using(openSqliteSource(places, systemClock), async (side) =>
    (await rowsOf(side)).set(MESSAGE_TAGS.name, await side.page(MESSAGE_TAGS, null, 10_000)),
  );
}

function comparable(shape: TableShape, row: Row): Row {
  const columns = Object.keys(shape.columns);
  return row
    .filter((_, place) => shape.name !== 'messages' || !PLACE.includes(columns[place] ?? ''))
    .map((value) => (typeof value === 'string' ? holdable(value) : value));
}

/** What users see of a store: its figures and its lists, once the sweep has entered all words. */
export async function sightOf({
  store,
  views,
  suppressions,
}: {
  readonly store: Store;
  readonly views: Views;
  readonly suppressions: SuppressionList;
}) {
  while ((await store.index(500)).more);
  const { databaseBytes: _, ...figures } = await views.figures(T0);
  const everything = { owner: 'all', statuses: [], before: null, limit: 100 } as const;
  const any = { tag: null, to: null, from: null, subject: null, since: null, until: null };
  const tagged = async (tag: string) =>
    (await views.list({ ...everything, filter: { ...any, tag } })).messages.map(({ id }) => id);
  const { query } = parseQuery('quoted folded');
  const found = await views.search({ query, after: null, before: null, limit: 100 });
  const { events } = await views.events({ ...EVERY_EVENT, from: { after: 0 }, limit: 200 });
  const [entry] = await suppressions.suppressionsUnder(['ann@example.org']);
  if (entry === undefined) throw new Error('no entry was moved');
  const onTop = [{ ...entry, id: 'sup_9', address: 'another@example.org' }];
  return {
    /** The list has three entries, and takes no more. */
    isFull: await suppressions.addSuppressions(onTop, { max: 3, by: 'hand', now: T0 }),
    suppressed: events.flatMap(({ type, facts }) => (facts.entry === undefined ? [] : [type])),
    figures,
    lanes: (await views.lanes(null, 99)).sort((a, b) => (a.lane < b.lane ? -1 : 1)),
    waiting: (await views.waiting({ lane: 'all', after: null, limit: 1_000 })).deliveries.length,
    tagged: await tagged('all'),
    longTag: await tagged('x'.repeat(700)),
    found: found.messages.map(({ id }) => id),
    duplicates: (await views.list(everything)).messages.filter((one) => one.possibleDuplicate).length,
  };
}

/** What a side breaks off with. */
export class CutOff extends Error {}

/** A side that is lost at its second write, before or after the write was done. */
export function cutOff(side: Side, when: 'before' | 'after'): Side {
  let writes = 0;
  return altered(side, async (write) => {
    writes++;
    if (writes === 1 || when === 'after') await write();
    if (writes > 1) throw new CutOff();
  });
}

/** A side whose writes are something else. */
export function altered(
  side: Side,
  write: (
    asked: (rows?: readonly Row[]) => Promise<void>,
    shape: TableShape,
    rows: readonly Row[],
  ) => Promise<void>,
): Side {
  return new Proxy(side, {
    get(target, name) {
      if (name === 'write') {
        const replaced: Side['write'] = (shape, rows, note) =>
          write((others = rows) => target.write(shape, others, note), shape, rows);
        return replaced;
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
