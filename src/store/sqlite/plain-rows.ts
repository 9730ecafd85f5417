import type { HoldKind } from '../../domain/hold.ts';
import type { ApiKey, Scope } from '../../domain/key.ts';
import { fromJson } from '../columns.ts';
import {
  type JournalEntry,
  type JournalPage,
  type JournalQuery,
  MAX_JOURNAL_ENTRIES,
  MAX_JOURNAL_EXAMINED,
  type NewJournalEntry,
  oldOnes,
  pageOf,
} from '../journal.ts';
import type { ChangeableKey } from '../keyring.ts';
import {
  MAX_ROUTE_TABLES,
  type SettingChanges,
  type StoredDomain,
  type StoredHold,
  type StoredRelay,
  type StoredRoutes,
  UNPUBLISHED,
} from '../registry.ts';
import { asFlag, type Driver } from './driver.ts';

/** Builds the verbs of the journal. */
export function journalVerbs(db: Driver) {
  const sql = prepareJournal(db);
  return {
    record: (entries: readonly NewJournalEntry[]): void => {
      for (const entry of entries) sql.add.run(...columnsOf(entry));
      sql.keepNewest.run(MAX_JOURNAL_ENTRIES);
    },
    entries: (query: JournalQuery): JournalPage => {
      const rows = sql.brief.all(query.before ?? Number.MAX_SAFE_INTEGER, MAX_JOURNAL_EXAMINED);
      const briefs = rows.map(([number, actor, action, subject]) => ({ number, actor, action, subject }));
      const { numbers, next } = pageOf(briefs, query);
      return { entries: numbers.flatMap((number) => entriesOf(sql.entry.get(number))), next };
    },
    forgetEntries: (before: number, limit: number): number => {
      const oldest = sql.oldest.all(limit).map(([number, at]) => ({ number, at }));
      const last = oldOnes(oldest, before);
      return last === null ? 0 : sql.forget.run(last);
    },
  };
}

type Columns = [
  at: number,
  actorKind: NewJournalEntry['actorKind'],
  actor: string,
  sourceAddress: string | null,
  action: string,
  subject: string,
  before: string | null,
  after: string | null,
];

function columnsOf(entry: NewJournalEntry): Columns {
  const { at, actorKind, actor, sourceAddress, action, subject, before, after } = entry;
  return [at, actorKind, actor, sourceAddress, action, subject, before, after];
}

function entriesOf(row: [number: number, ...Columns] | undefined): JournalEntry[] {
  if (row === undefined) return [];
  const [number, at, actorKind, actor, sourceAddress, action, subject, before, after] = row;
  return [{ number, at, actorKind, actor, sourceAddress, action, subject, before, after }];
}

const COLUMNS = 'at, actor_kind, actor, source_address, action, subject, before, after';

function prepareJournal(db: Driver) {
  return {
    add: db.prepare<Columns>(`INSERT INTO journal (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    keepNewest: db.prepare<[kept: number]>(
      'DELETE FROM journal WHERE number <= (SELECT max(number) FROM journal) - ?',
    ),
    brief: db.prepare<
      [before: number, limit: number],
      [number: number, actor: string, action: string, subject: string]
    >('SELECT number, actor, action, subject FROM journal WHERE number < ? ORDER BY number DESC LIMIT ?'),
    entry: db.prepare<[number: number], [number: number, ...Columns]>(
      `SELECT number, ${COLUMNS} FROM journal WHERE number = ?`,
    ),
    oldest: db.prepare<[limit: number], [number: number, at: number]>(
      'SELECT number, at FROM journal ORDER BY number LIMIT ?',
    ),
    forget: db.prepare<[last: number]>('DELETE FROM journal WHERE number <= ?'),
  };
}

/** Builds the verbs of the registry. */
export function registryVerbs(db: Driver) {
  const sql = prepareRegistry(db);
  const putSetting = (key: string, value: string | null): void => {
    if (value === null) sql.removeSetting.run(key);
    else sql.putSetting.run(key, value);
  };
  const putSettings = (values: SettingChanges): void => {
    for (const [key, value] of values) putSetting(key, value);
  };
  return {
    relays: (): StoredRelay[] =>
      sql.relays.all().map(([name, definition, secret, disabled]) => ({
        name,
        definition,
        secret,
        disabled: disabled === 1,
      })),
    putRelay: ({ name, definition, secret, disabled }: StoredRelay, settings?: SettingChanges): void => {
      sql.putRelay.run(name, definition, secret, asFlag(disabled));
      if (settings !== undefined) putSettings(settings);
    },
    removeRelay: (name: string, settings?: SettingChanges): boolean => {
      if (settings !== undefined) putSettings(settings);
      sql.removeHoldsOf.run(name, `${name}/`, `${name}0`);
      return sql.removeRelay.run(name) === 1;
    },
    settings: (): Map<string, string> => new Map(sql.settings.all()),
    putSetting,
    putSettings,
    domains: (): StoredDomain[] =>
      sql.domains.all().map(([name, definition, secrets]) => ({ name, definition, secrets })),
    putDomain: ({ name, definition, secrets }: StoredDomain): void => {
      sql.putDomain.run(name, definition, secrets);
    },
    removeDomain: (name: string): boolean => sql.removeDomain.run(name) === 1,
    holds: (): StoredHold[] => sql.holds.all().map(([target, kind, since]) => ({ target, kind, since })),
    putHold: (target: string, hold: Omit<StoredHold, 'target'> | null): void => {
      if (hold === null) sql.removeHold.run(target);
      else sql.putHold.run(target, hold.kind, hold.since);
    },
    publishRoutes: ({ publishedAt, origin, definition }: Omit<StoredRoutes, 'version'>): number => {
      const [newest] = sql.routeTables.all(1);
      if (newest?.[3] === definition) return newest[0];
      const version = (newest?.[0] ?? UNPUBLISHED) + 1;
      sql.addRouteTable.run(version, publishedAt, origin, definition);
      sql.dropRouteTables.run(version - MAX_ROUTE_TABLES);
      return version;
    },
    routeTables: (limit: number): StoredRoutes[] =>
      sql.routeTables.all(limit).map(([version, publishedAt, origin, definition]) => ({
        version,
        publishedAt,
        origin,
        definition,
      })),
  };
}

type RouteTableRow = [
  version: number,
  publishedAt: number,
  origin: StoredRoutes['origin'],
  definition: string,
];

type DomainRow = [name: string, definition: string, secrets: string];

function prepareRegistry(db: Driver) {
  return {
    relays: db.prepare<[], [name: string, definition: string, secret: string | null, disabled: number]>(
      'SELECT name, definition, secret, disabled FROM relays ORDER BY name',
    ),
    putRelay: db.prepare<[name: string, definition: string, secret: string | null, disabled: number]>(
      'INSERT OR REPLACE INTO relays VALUES (?, ?, ?, ?)',
    ),
    removeRelay: db.prepare<[name: string]>('DELETE FROM relays WHERE name = ?'),
    settings: db.prepare<[], [name: string, value: string]>('SELECT name, value FROM settings ORDER BY name'),
    putSetting: db.prepare<[name: string, value: string]>('INSERT OR REPLACE INTO settings VALUES (?, ?)'),
    removeSetting: db.prepare<[name: string]>('DELETE FROM settings WHERE name = ?'),
    domains: db.prepare<[], DomainRow>('SELECT name, definition, secrets FROM domains ORDER BY name'),
    putDomain: db.prepare<DomainRow>('INSERT OR REPLACE INTO domains VALUES (?, ?, ?)'),
    removeDomain: db.prepare<[name: string]>('DELETE FROM domains WHERE name = ?'),
    holds: db.prepare<[], [target: string, kind: HoldKind, since: number]>(
      'SELECT target, kind, since FROM holds ORDER BY target',
    ),
    putHold: db.prepare<[target: string, kind: HoldKind, since: number]>(
      'INSERT OR REPLACE INTO holds VALUES (?, ?, ?)',
    ),
    removeHold: db.prepare<[target: string]>('DELETE FROM holds WHERE target = ?'),
    // A relay's name holds no slash: what comes after it in its lanes' names lies between "/" and "0".
    removeHoldsOf: db.prepare<[relay: string, from: string, to: string]>(
      'DELETE FROM holds WHERE target = ? OR (target > ? AND target < ?)',
    ),
    routeTables: db.prepare<[limit: number], RouteTableRow>(
      'SELECT version, published_at, origin, definition FROM route_tables ORDER BY version DESC LIMIT ?',
    ),
    addRouteTable: db.prepare<RouteTableRow>('INSERT INTO route_tables VALUES (?, ?, ?, ?)'),
    dropRouteTables: db.prepare<[version: number]>('DELETE FROM route_tables WHERE version <= ?'),
  };
}

type KeyRow = [
  id: string,
  name: string,
  mode: 'live' | 'test',
  prefix: string,
  scopes: string,
  createdAt: number,
  lastUsedAt: number | null,
  expiresAt: number | null,
  revokedAt: number | null,
  rateLimit: number | null,
  cidrs: string,
  senderDomains: string,
  contentDays: number | null,
];

const KEY_COLUMNS = `id, name, mode, prefix, scopes, created_at, last_used_at, expires_at, revoked_at, rate_limit,
  cidrs, sender_domains, content_days`;

/** Builds the verbs of the keyring. */
export function keyringVerbs(db: Driver) {
  const sql = prepareKeyring(db);
  return {
    create: (key: ApiKey, secretHash: string): boolean => {
      if (sql.insert.run(...rowOf(key)) === 0) return false;
      sql.insertSecret.run(secretHash, key.id);
      return true;
    },
    list: (): ApiKey[] => sql.all.all().map(keyOf),
    findByHash: (secretHash: string, now: number): ApiKey | null => {
      const row = sql.byHash.get(secretHash, now);
      return row === undefined ? null : keyOf(row);
    },
    revoke: (id: string, now: number): boolean => sql.revoke.run(now, id) === 1,
    update: (key: Pick<ApiKey, 'id'> & ChangeableKey): 'updated' | 'taken' | 'gone' => {
      const { id, name, scopes, rateLimit, expiresAt, cidrs, senderDomains, contentDays } = key;
      if (sql.otherOfName.get(name, id) !== undefined) return 'taken';
      const lists = [JSON.stringify(scopes), JSON.stringify(cidrs), JSON.stringify(senderDomains)] as const;
      return sql.update.run(name, ...lists, rateLimit, expiresAt, contentDays, id) === 1 ? 'updated' : 'gone';
    },
    rotate: (id: string, secretHash: string, prefix: string, overlapUntil: number): boolean => {
      if (sql.setPrefix.run(prefix, id) === 0) return false;
      sql.limitSecrets.run(overlapUntil, id, overlapUntil);
      sql.insertSecret.run(secretHash, id);
      return true;
    },
    touch: (uses: ReadonlyMap<string, number>): void => {
      for (const [id, usedAt] of uses) sql.touch.run(usedAt, id);
    },
  };
}

function rowOf(key: ApiKey): KeyRow {
  return [
    key.id,
    key.name,
    key.mode,
    key.prefix,
    JSON.stringify(key.scopes),
    key.createdAt,
    key.lastUsedAt,
    key.expiresAt,
    key.revokedAt,
    key.rateLimit,
    JSON.stringify(key.cidrs),
    JSON.stringify(key.senderDomains),
    key.contentDays,
  ];
}

function keyOf(row: KeyRow): ApiKey {
  const [id, name, mode, prefix, scopes, createdAt, lastUsedAt, expiresAt, revokedAt, rateLimit] = row;
  const [, , , , , , , , , , cidrs, senderDomains, contentDays] = row;
  return {
    id,
    name,
    mode,
    prefix,
    scopes: fromJson<Scope[]>(scopes),
    createdAt,
    lastUsedAt,
    expiresAt,
    revokedAt,
    rateLimit,
    cidrs: fromJson<string[]>(cidrs),
    senderDomains: fromJson<string[]>(senderDomains),
    contentDays,
  };
}

function prepareKeyring(db: Driver) {
  return {
    insert: db.prepare<KeyRow>(
      `INSERT INTO keys (${KEY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING`,
    ),
    insertSecret: db.prepare<[hash: string, keyId: string]>('INSERT INTO key_secrets VALUES (?, ?, NULL)'),
    all: db.prepare<[], KeyRow>(`SELECT ${KEY_COLUMNS} FROM keys ORDER BY created_at DESC, id DESC`),
    byHash: db.prepare<[hash: string, now: number], KeyRow>(
      `SELECT ${KEY_COLUMNS} FROM keys WHERE id =
         (SELECT key_id FROM key_secrets WHERE hash = ? AND (until IS NULL OR until > ?))`,
    ),
    revoke: db.prepare<[now: number, id: string]>(
      'UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
    ),
    otherOfName: db.prepare<[name: string, id: string], [string]>(
      'SELECT id FROM keys WHERE name = ? AND revoked_at IS NULL AND id <> ?',
    ),
    update: db.prepare<
      [
        name: string,
        scopes: string,
        cidrs: string,
        senderDomains: string,
        rateLimit: number | null,
        expiresAt: number | null,
        contentDays: number | null,
        id: string,
      ]
    >(
      `UPDATE keys SET name = ?, scopes = ?, cidrs = ?, sender_domains = ?, rate_limit = ?, expires_at = ?,
         content_days = ?
       WHERE id = ? AND revoked_at IS NULL`,
    ),
    setPrefix: db.prepare<[prefix: string, id: string]>(
      'UPDATE keys SET prefix = ? WHERE id = ? AND revoked_at IS NULL',
    ),
    limitSecrets: db.prepare<[until: number, keyId: string, until: number]>(
      'UPDATE key_secrets SET until = ? WHERE key_id = ? AND (until IS NULL OR until > ?)',
    ),
    touch: db.prepare<[usedAt: number, id: string]>('UPDATE keys SET last_used_at = ? WHERE id = ?'),
  };
}
