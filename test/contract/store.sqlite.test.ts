import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBetterSqlite3 } from '../../src/store/sqlite/better-sqlite3.ts';
import type { OpenDriver } from '../../src/store/sqlite/driver.ts';
import { openNodeSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { storeContract } from './store/contract.ts';
import type { Subject } from './store/fixtures.ts';

/** A subject in a file of its own, over one of the drivers. */
function openWith(driver: OpenDriver): () => Promise<Subject> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-store-'));
    return openIn(folder, driver);
  };
}

function openIn(folder: string, driver: OpenDriver): Subject {
  const path = join(folder, 'waybill.db');
  const stores = openSqlite(path, { driver });
  return {
    ...stores,
    reopen: async () => {
      await stores.store.close();
      return openIn(folder, driver);
    },
    requestCancel: async (id) => {
      const other = driver(path);
      other
        .prepare<[string]>(
          'UPDATE deliveries SET cancel_requested = 1 WHERE message = (SELECT seq FROM messages WHERE id = ?)',
        )
        .run(id);
      other.close();
    },
    close: async () => {
      await stores.store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

storeContract('better-sqlite3', openWith(openBetterSqlite3));
storeContract('node:sqlite', openWith(openNodeSqlite));
