import type { ApiKey, Scope } from '../../domain/key.ts';
import type { Database, Queries } from '../../postgres/database.ts';
import { fromJson } from '../columns.ts';
import type { ChangeableKey, Keyring } from '../keyring.ts';
import { Table } from './table.ts';

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
