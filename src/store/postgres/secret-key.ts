import type { Database } from '../../postgres/database.ts';
import { StoreError } from '../store.ts';

/**
 * Holds every node to one secret key: the first to start writes the name of its key, which gives nothing of it away.
 * Rejects with `store_other_key` if the stored one is another.
 */
export async function holdSecretKey(database: Database, keyId: string): Promise<void> {
  const known = await database.transact(async (db) => {
    await db.run('INSERT INTO secret_key (key_id) VALUES ($1) ON CONFLICT DO NOTHING', [keyId]);
    const [row] = await db.rows<{ keyId: string }>('SELECT key_id AS "keyId" FROM secret_key');
    return row?.keyId;
  });
  if (known === keyId) return;
  throw new StoreError(
    'store_other_key',
    `The secret key is not the one that this database's secrets were sealed under: it is ${keyId}, theirs is ${known}. ` +
      'All nodes need the same: let secrets.key_file name a copy of the secret.key of the node that was started first.',
  );
}
