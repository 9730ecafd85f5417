import type { ApiKey, Scope } from '../../domain/key.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import { fromJson } from '../columns.ts';
import {
  type Journal,
  type JournalEntry,
  type JournalPage,
  type JournalQuery,
  MAX_JOURNAL_ENTRIES,
  MAX_JOURNAL_EXAMINED,
  type NewJournalEntry,
  oldOnes,
  pageOf,
} from '../journal.ts';
import type { ChangeableKey, Keyring } from '../keyring.ts';
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
import { Table } from './tables.ts';

const NEW = new Table<NewJournalEntry>('journal', {
  at: 'bigint',
  actorKind: 'text',
  actor: 'text',
  sourceAddress: 'text',
  action: 'text',
  subject: 'text',
  before: 'text',
  after: 'text',
});

/** The journal over a database. */
export function journalOver(database: Database): Journal {
  return {
    record: (entries) =>
      database.transact(async (db) => {
        await NEW.insert(db, entries);
        await db.run(KEEP_NEWEST, [MAX_JOURNAL_ENTRIES]);
      }),
    entries: (query) => database.inSnapshot((db) => page(db, query)),
    forgetEntries: (before, limit) =>
      database.transact(async (db) => {
        const last = oldOnes(await db.rows<Pick<JournalEntry, 'number' | 'at'>>(OLDEST, [limit]), before);
        return last === null ? 0 : await db.run('DELETE FROM journal WHERE number <= $1', [last]);
      }),
  };
}

async function page(db: Queries, query: JournalQuery): Promise<JournalPage> {
  const briefs = await db.rows<Pick<JournalEntry, 'number' | 'actor' | 'action' | 'subject'>>(BRIEF, [
    query.before ?? Number.MAX_SAFE_INTEGER,
    MAX_JOURNAL_EXAMINED,
  ]);
  const { numbers, next } = pageOf(briefs, query);
  return { entries: await db.rows<JournalEntry>(ENTRIES, [numbers]), next };
}

const KEEP_NEWEST = 'DELETE FROM journal WHERE number <= (SELECT max(number) FROM journal) - $1';
const BRIEF = `SELECT number, actor, action, subject FROM journal WHERE number < $1
  ORDER BY number DESC LIMIT $2`;
const ENTRIES = `SELECT number, ${NEW.columns} FROM journal WHERE number = ANY($1::bigint[])
  ORDER BY number DESC`;
const OLDEST = 'SELECT number, at FROM journal ORDER BY number LIMIT $1';

/** A key as a row. */
interface KeyRow extends Omit<ApiKey, 'scopes' | 'cidrs' | 'senderDomains'> {
  readonly scopes: string;
  readonly cidrs: string;
  readonly senderDomains: string;
}

const KEYS = new Table<KeyRow>('keys', {
  id: 'text',
  name: 'text',
  mode: 'text',
  prefix: 'text',
  scopes: 'text',
  createdAt: 'bigint',
  lastUsedAt: 'bigint',
  expiresAt: 'bigint',
  revokedAt: 'bigint',
  rateLimit: 'integer',
  cidrs: 'text',
  senderDomains: 'text',
  contentDays: 'integer',
});

/** The keyring over a database. */
export function keyringOver(database: Database): Keyring {
  return {
    create: (key, secretHash) =>
      database.transact(async (db) => {
        const inserted = await KEYS.insert(db, [rowOf(key)], UNLESS_TAKEN);
        if (inserted === 1) await addSecret(db, secretHash, key.id);
        return inserted === 1;
      }),
    list: async () => (await database.rows<KeyRow>(LIST)).map(keyOf),
    findByHash: async (secretHash, now) => {
      const [row] = await database.rows<KeyRow>(FIND, [secretHash, now]);
      return row === undefined ? null : keyOf(row);
    },
    revoke: (id, now) => database.transact(async (db) => (await db.run(REVOKE, [id, now])) === 1),
    update: (key) => database.transact((db) => update(db, key)),
    rotate: (id, secretHash, prefix, overlapUntil) =>
      database.transact(async (db) => {
        if ((await db.run(SET_PREFIX, [id, prefix])) === 0) return false;
        await db.run(LIMIT_SECRETS, [id, overlapUntil]);
        await addSecret(db, secretHash, id);
        return true;
      }),
    touch: (uses) => database.transact((db) => touch(db, uses)),
  };
}

function addSecret(db: Queries, hash: string, keyId: string): Promise<number> {
  return db.run('INSERT INTO key_secrets (hash, key_id, until) VALUES ($1, $2, NULL)', [hash, keyId]);
}

async function update(
  db: Queries,
  key: Pick<ApiKey, 'id'> & ChangeableKey,
): Promise<'updated' | 'taken' | 'gone'> {
  const { id, name, scopes, rateLimit, expiresAt, cidrs, senderDomains, contentDays } = key;
  // Nobody else may take the name meanwhile.
  await db.script('LOCK TABLE keys IN SHARE ROW EXCLUSIVE MODE');
  const others = await db.rows(OTHER_OF_NAME, [name, id]);
  if (others.length > 0) return 'taken';
  const lists = [JSON.stringify(scopes), JSON.stringify(cidrs), JSON.stringify(senderDomains)];
  return (await db.run(UPDATE, [id, name, ...lists, rateLimit, expiresAt, contentDays])) === 1
    ? 'updated'
    : 'gone';
}

/** Keys are locked in the order of their ids: two nodes may record the use of the same ones. */
async function touch(db: Queries, uses: ReadonlyMap<string, number>): Promise<void> {
  const ids = [...uses.keys()];
  if (ids.length === 0) return;
  // Before the rows: whoever changes a key has locked the table, and may want one of these rows next.
  await db.script('LOCK TABLE keys IN ROW EXCLUSIVE MODE');
  await db.rows('SELECT FROM keys WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE', [ids]);
  await db.run(TOUCH, [ids, [...uses.values()]]);
}

function rowOf({ scopes, cidrs, senderDomains, ...key }: ApiKey): KeyRow {
  return {
    ...key,
    scopes: JSON.stringify(scopes),
    cidrs: JSON.stringify(cidrs),
    senderDomains: JSON.stringify(senderDomains),
  };
}

function keyOf({ scopes, cidrs, senderDomains, ...key }: KeyRow): ApiKey {
  return {
    ...key,
    scopes: fromJson<Scope[]>(scopes),
    cidrs: fromJson<string[]>(cidrs),
    senderDomains: fromJson<string[]>(senderDomains),
  };
}

const UNLESS_TAKEN = 'ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING';
const LIST = `SELECT ${KEYS.columns} FROM keys ORDER BY created_at DESC, id DESC`;
const FIND = `SELECT ${KEYS.columns} FROM keys
  WHERE id = (SELECT key_id FROM key_secrets WHERE hash = $1 AND (until IS NULL OR until > $2))`;
const REVOKE = 'UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL';
const OTHER_OF_NAME = 'SELECT FROM keys WHERE name = $1 AND revoked_at IS NULL AND id <> $2';
const UPDATE = `UPDATE keys SET name = $2, scopes = $3, cidrs = $4, sender_domains = $5, rate_limit = $6,
  expires_at = $7, content_days = $8 WHERE id = $1 AND revoked_at IS NULL`;
const SET_PREFIX = 'UPDATE keys SET prefix = $2 WHERE id = $1 AND revoked_at IS NULL';
const LIMIT_SECRETS = 'UPDATE key_secrets SET until = $2 WHERE key_id = $1 AND (until IS NULL OR until > $2)';
const TOUCH = `UPDATE keys SET last_used_at = used.at FROM unnest($1::text[], $2::bigint[]) AS used (id, at)
  WHERE keys.id = used.id`;

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
