import type { ApiKey, Scope } from '../../domain/key.ts';
import type { Keyring, SigningSecret } from '../accounts.ts';
import { fromJson } from '../columns.ts';
import { Columns, sql } from './sql.ts';
import { alone, rows, run, type Subject, send, type Work } from './work.ts';

/** The list fields of a key, as JSON. */
type Lists<T> = { readonly [Field in 'scopes' | 'cidrs' | 'senderDomains']: T };

type KeyRow = Omit<ApiKey, keyof Lists<string>> & Lists<string>;

const KEY = new Columns<KeyRow>({
  id: sql`id`,
  name: sql`name`,
  mode: sql`mode`,
  prefix: sql`prefix`,
  scopes: sql`scopes`,
  createdAt: sql`created_at`,
  lastUsedAt: sql`last_used_at`,
  expiresAt: sql`expires_at`,
  revokedAt: sql`revoked_at`,
  rateLimit: sql`rate_limit`,
  cidrs: sql`cidrs`,
  senderDomains: sql`sender_domains`,
  contentDays: sql`content_days`,
  recordDays: sql`record_days`,
});

/** The keyring. */
export const KEYRING: Subject<Keyring> = {
  reads: { list: 'statement', findByHash: 'statement', findSigning: 'snapshot', signingIds: 'statement' },
  verbs: {
    *create(key, secretHash, signing = null) {
      const inserted = yield* run`INSERT INTO keys (${KEY.names}) VALUES (${KEY.values(rowOf(key))})
        ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING`;
      if (inserted === 1) yield* addSecret(secretHash, key.id);
      if (inserted === 1 && signing !== null) yield* addSigning(signing, key.id);
      return inserted === 1;
    },
    *list() {
      const found = yield* rows<KeyRow>`SELECT ${KEY.selected} FROM keys ORDER BY created_at DESC, id DESC`;
      return found.map(keyOf);
    },
    *findByHash(secretHash, now) {
      const [row] = yield* rows<KeyRow>`SELECT ${KEY.selected} FROM keys WHERE id =
        (SELECT key_id FROM key_secrets WHERE hash = ${secretHash} AND (until IS NULL OR until > ${now}))`;
      return row === undefined ? null : keyOf(row);
    },
    *findSigning(accessKeyId, now) {
      const [found] = yield* rows<{ keyId: string; sealed: string }>`SELECT key_id AS "keyId", sealed
        FROM signing_secrets WHERE id = ${accessKeyId} AND (until IS NULL OR until > ${now})`;
      if (found === undefined) return null;
      const [row] = yield* rows<KeyRow>`SELECT ${KEY.selected} FROM keys WHERE id = ${found.keyId}`;
      return row === undefined ? null : { sealed: found.sealed, key: keyOf(row) };
    },
    *signingIds() {
      const newest = yield* rows<{ id: string; keyId: string }>`SELECT id, key_id AS "keyId"
        FROM signing_secrets WHERE until IS NULL`;
      return new Map(newest.map(({ id, keyId }) => [keyId, id]));
    },
    *revoke(id, now) {
      return (yield* run`UPDATE keys SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL`) === 1;
    },
    *update(key) {
      const { id, name, rateLimit, expiresAt, contentDays, recordDays } = key;
      const { scopes, cidrs, senderDomains } = listsOf(key);
      // Keeps others from taking the name meanwhile.
      yield* alone(sql`keys`);
      const others =
        yield* rows`SELECT id FROM keys WHERE name = ${name} AND revoked_at IS NULL AND id <> ${id}`;
      if (others.length > 0) return 'taken';
      const changed = yield* run`UPDATE keys SET name = ${name}, scopes = ${scopes}, cidrs = ${cidrs},
        sender_domains = ${senderDomains}, rate_limit = ${rateLimit}, expires_at = ${expiresAt},
        content_days = ${contentDays}, record_days = ${recordDays} WHERE id = ${id} AND revoked_at IS NULL`;
      return changed === 1 ? 'updated' : 'gone';
    },
    *rotate(id, secretHash, prefix, overlapUntil, signing = null) {
      const live = yield* run`UPDATE keys SET prefix = ${prefix} WHERE id = ${id} AND revoked_at IS NULL`;
      if (live === 0) return false;
      yield* send`UPDATE key_secrets SET until = ${overlapUntil}
        WHERE key_id = ${id} AND (until IS NULL OR until > ${overlapUntil})`;
      yield* addSecret(secretHash, id);
      yield* send`UPDATE signing_secrets SET until = ${overlapUntil}
        WHERE key_id = ${id} AND (until IS NULL OR until > ${overlapUntil})`;
      if (signing !== null) yield* addSigning(signing, id);
      return true;
    },
    *touch(uses) {
      // Sorted by id: two nodes that record the use of the same keys lock them in one order.
      for (const [id, usedAt] of [...uses].sort(([a], [b]) => (a < b ? -1 : 1)))
        yield* send`UPDATE keys SET last_used_at = ${usedAt} WHERE id = ${id}`;
    },
  },
};

function addSecret(hash: string, keyId: string): Work<void> {
  return send`INSERT INTO key_secrets (hash, key_id, until) VALUES (${hash}, ${keyId}, NULL)`;
}

function addSigning({ id, sealed }: SigningSecret, keyId: string): Work<void> {
  return send`INSERT INTO signing_secrets (id, key_id, sealed, until) VALUES (${id}, ${keyId}, ${sealed}, NULL)`;
}

function rowOf(key: ApiKey): KeyRow {
  return { ...key, ...listsOf(key) };
}

function listsOf({ scopes, cidrs, senderDomains }: Lists<readonly string[]>): Lists<string> {
  return {
    scopes: JSON.stringify(scopes),
    cidrs: JSON.stringify(cidrs),
    senderDomains: JSON.stringify(senderDomains),
  };
}

function keyOf(row: KeyRow): ApiKey {
  return {
    ...row,
    scopes: fromJson<Scope[]>(row.scopes),
    cidrs: fromJson<string[]>(row.cidrs),
    senderDomains: fromJson<string[]>(row.senderDomains),
  };
}
