import type { ApiKey, Scope } from '../../domain/key.ts';
import { fromJson } from '../columns.ts';
import type { ChangeableKey } from '../keyring.ts';
import type { Driver } from './driver.ts';

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

const COLUMNS = `id, name, mode, prefix, scopes, created_at, last_used_at, expires_at, revoked_at, rate_limit,
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
      `INSERT INTO keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING`,
    ),
    insertSecret: db.prepare<[hash: string, keyId: string]>('INSERT INTO key_secrets VALUES (?, ?, NULL)'),
    all: db.prepare<[], KeyRow>(`SELECT ${COLUMNS} FROM keys ORDER BY created_at DESC, id DESC`),
    byHash: db.prepare<[hash: string, now: number], KeyRow>(
      `SELECT ${COLUMNS} FROM keys WHERE id =
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
