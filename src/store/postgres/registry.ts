import type { Database, Queries } from '../../postgres/database.ts';
import type {
  Registry,
  SettingChanges,
  StoredDomain,
  StoredHold,
  StoredRelay,
  StoredRoutes,
} from '../registry.ts';
import { MAX_ROUTE_TABLES, UNPUBLISHED } from '../registry.ts';

/** The registry over a database. */
export function registryOver(database: Database): Registry {
  /** Other nodes notice what was changed by the revision, which changes with it. */
  const change = <T>(work: (db: Queries) => Promise<T>) =>
    database.transact(async (db) => {
      const result = await work(db);
      await db.run('UPDATE registry_revision SET revision = revision + 1');
      return result;
    });
  const run = (sql: string, parameters: Parameters<Queries['run']>[1]) =>
    change((db) => db.run(sql, parameters));
  return {
    relays: () => database.rows<StoredRelay>(RELAYS),
    putRelay: ({ name, definition, secret, disabled }, settings) =>
      change(async (db) => {
        await db.run(PUT_RELAY, [name, definition, secret, disabled]);
        await putSettings(db, settings);
      }),
    removeRelay: (name, settings) =>
      change(async (db) => {
        await putSettings(db, settings);
        await db.run(REMOVE_HOLDS, [name]);
        return (await db.run('DELETE FROM relays WHERE name = $1', [name])) === 1;
      }),
    settings: async () => {
      const rows = await database.rows<{ name: string; value: string }>(SETTINGS);
      return new Map(rows.map(({ name, value }) => [name, value]));
    },
    putSetting: (key, value) => change((db) => putSetting(db, key, value)),
    putSettings: (values) => change((db) => putSettings(db, values)),
    domains: () => database.rows<StoredDomain>(DOMAINS),
    putDomain: async ({ name, definition, secrets }) =>
      void (await run(PUT_DOMAIN, [name, definition, secrets])),
    removeDomain: async (name) => (await run('DELETE FROM domains WHERE name = $1', [name])) === 1,
    holds: () => database.rows<StoredHold>('SELECT target, kind, since FROM holds ORDER BY target'),
    putHold: async (target, hold) =>
      void (hold === null
        ? await run('DELETE FROM holds WHERE target = $1', [target])
        : await run(PUT_HOLD, [target, hold.kind, hold.since])),
    // Published tables follow from what is stored and from files: each node makes them out of its own.
    revision: async () => {
      const [row] = await database.rows<{ revision: number }>('SELECT revision FROM registry_revision');
      return row?.revision ?? 0;
    },
    publishRoutes: (table) => database.transact((db) => publish(db, table)),
    routeTables: (limit) => database.rows<StoredRoutes>(ROUTE_TABLES, [limit]),
  };
}

async function putSetting(db: Queries, key: string, value: string | null): Promise<void> {
  if (value === null) await db.run('DELETE FROM settings WHERE name = $1', [key]);
  else await db.run(PUT_SETTING, [key, value]);
}

/** By name: two nodes that write the same settings lock them in one order. */
async function putSettings(db: Queries, values: SettingChanges = new Map()): Promise<void> {
  for (const [key, value] of [...values].sort(([a], [b]) => (a < b ? -1 : 1)))
    await putSetting(db, key, value);
}

async function publish(
  db: Queries,
  { publishedAt, origin, definition }: Omit<StoredRoutes, 'version'>,
): Promise<number> {
  // One at a time: two nodes that publish the same table must come to one version.
  await db.script('LOCK TABLE route_tables IN SHARE ROW EXCLUSIVE MODE');
  const [newest] = await db.rows<StoredRoutes>(ROUTE_TABLES, [1]);
  if (newest?.definition === definition) return newest.version;
  const version = (newest?.version ?? UNPUBLISHED) + 1;
  await db.run(PUBLISH, [version, publishedAt, origin, definition]);
  await db.run('DELETE FROM route_tables WHERE version <= $1', [version - MAX_ROUTE_TABLES]);
  return version;
}

const RELAYS = 'SELECT name, definition, secret, disabled FROM relays ORDER BY name';
const PUT_RELAY = `INSERT INTO relays (name, definition, secret, disabled) VALUES ($1, $2, $3, $4)
  ON CONFLICT (name) DO UPDATE
  SET definition = excluded.definition, secret = excluded.secret, disabled = excluded.disabled`;
const SETTINGS = 'SELECT name, value FROM settings ORDER BY name';
const PUT_SETTING = `INSERT INTO settings (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
const DOMAINS = 'SELECT name, definition, secrets FROM domains ORDER BY name';
const PUT_DOMAIN = `INSERT INTO domains (name, definition, secrets) VALUES ($1, $2, $3)
  ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, secrets = excluded.secrets`;
const PUT_HOLD = `INSERT INTO holds (target, kind, since) VALUES ($1, $2, $3)
  ON CONFLICT (target) DO UPDATE SET kind = excluded.kind, since = excluded.since`;
const REMOVE_HOLDS = "DELETE FROM holds WHERE target = $1 OR starts_with(target, $1 || '/')";
const ROUTE_TABLES = `SELECT version, published_at AS "publishedAt", origin, definition FROM route_tables
  ORDER BY version DESC LIMIT $1`;
const PUBLISH =
  'INSERT INTO route_tables (version, published_at, origin, definition) VALUES ($1, $2, $3, $4)';
