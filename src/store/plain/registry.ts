import {
  MAX_ROUTE_TABLES,
  type Registry,
  type SettingChanges,
  type StoredDomain,
  type StoredHold,
  type StoredRelay,
  type StoredRoutes,
  UNPUBLISHED,
} from '../registry.ts';
import { type Flag, onPostgres, sql } from './sql.ts';
import { alone, rows, run, type Subject, send, type Work } from './work.ts';

/** The registry without its revision, which only several nodes need. */
export const REGISTRY: Subject<Omit<Registry, 'revision'>> = {
  reads: {
    relays: 'statement',
    settings: 'statement',
    domains: 'statement',
    holds: 'statement',
    routeTables: 'statement',
  },
  verbs: {
    *relays() {
      const found = yield* rows<Omit<StoredRelay, 'disabled'> & { readonly disabled: Flag }>`
        SELECT name, definition, secret, disabled FROM relays ORDER BY name`;
      return found.map((row) => ({ ...row, disabled: Boolean(row.disabled) }));
    },
    *putRelay({ name, definition, secret, disabled }, settings) {
      yield* send`INSERT INTO relays (name, definition, secret, disabled)
        VALUES (${name}, ${definition}, ${secret}, ${disabled})
        ON CONFLICT (name) DO UPDATE
        SET definition = excluded.definition, secret = excluded.secret, disabled = excluded.disabled`;
      yield* putSettings(settings);
      yield* tellOthers();
    },
    *removeRelay(name, settings) {
      yield* putSettings(settings);
      // A relay's name contains no slash, so the rest of its lanes' names sorts between "/" and "0".
      yield* send`DELETE FROM holds
        WHERE target = ${name} OR (target >= ${`${name}/`} AND target < ${`${name}0`})`;
      const removed = yield* run`DELETE FROM relays WHERE name = ${name}`;
      yield* tellOthers();
      return removed === 1;
    },
    *settings() {
      const found = yield* rows<{ name: string; value: string }>`
        SELECT name, value FROM settings ORDER BY name`;
      return new Map(found.map(({ name, value }) => [name, value]));
    },
    *putSetting(key, value) {
      yield* putSettings(new Map([[key, value]]));
      yield* tellOthers();
    },
    *putSettings(values) {
      yield* putSettings(values);
      yield* tellOthers();
    },
    domains: () => rows<StoredDomain>`SELECT name, definition, secrets FROM domains ORDER BY name`,
    *putDomain({ name, definition, secrets }) {
      yield* send`INSERT INTO domains (name, definition, secrets) VALUES (${name}, ${definition}, ${secrets})
        ON CONFLICT (name) DO UPDATE SET definition = excluded.definition, secrets = excluded.secrets`;
      yield* tellOthers();
    },
    *removeDomain(name) {
      const removed = yield* run`DELETE FROM domains WHERE name = ${name}`;
      yield* tellOthers();
      return removed === 1;
    },
    holds: () => rows<StoredHold>`SELECT target, kind, since FROM holds ORDER BY target`,
    *putHold(target, hold) {
      if (hold === null) yield* send`DELETE FROM holds WHERE target = ${target}`;
      else
        yield* send`INSERT INTO holds (target, kind, since) VALUES (${target}, ${hold.kind}, ${hold.since})
          ON CONFLICT (target) DO UPDATE SET kind = excluded.kind, since = excluded.since`;
      yield* tellOthers();
    },
    // Published tables follow from the store and from files: each node makes its own, and needs no notice.
    *publishRoutes({ publishedAt, origin, definition }) {
      // Serialized: two nodes that publish the same table must get one version.
      yield* alone(sql`route_tables`);
      const [newest] = yield* routeTables(1);
      if (newest?.definition === definition) return newest.version;
      const version = (newest?.version ?? UNPUBLISHED) + 1;
      yield* send`INSERT INTO route_tables (version, published_at, origin, definition)
        VALUES (${version}, ${publishedAt}, ${origin}, ${definition})`;
      yield* send`DELETE FROM route_tables WHERE version <= ${version - MAX_ROUTE_TABLES}`;
      return version;
    },
    routeTables,
  },
};

function routeTables(limit: number): Work<StoredRoutes[]> {
  return rows`SELECT version, published_at AS "publishedAt", origin, definition FROM route_tables
    ORDER BY version DESC LIMIT ${limit}`;
}

/** Sorted by name: two nodes that write the same settings lock them in one order. */
function* putSettings(values: SettingChanges = new Map()): Work<void> {
  for (const [key, value] of [...values].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (value === null) yield* send`DELETE FROM settings WHERE name = ${key}`;
    else
      yield* send`INSERT INTO settings (name, value) VALUES (${key}, ${value})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
}

/** Other nodes notice a change by the revision. Last, so that it is locked only briefly. */
function tellOthers(): Work<void> {
  return send`${onPostgres(sql`UPDATE registry_revision SET revision = revision + 1`)}`;
}
