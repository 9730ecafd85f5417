import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenDriver, openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { openNodeSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqlite, type SqliteOptions } from '../../src/store/sqlite/open.ts';
import { placeEmptyDatabase } from '../support/empty-database.ts';
import { readBooks } from '../support/sqlite-books.ts';
import { storeContract } from './store/contract.ts';
import type { OpenSubject, Subject } from './store/fixtures.ts';

/** A subject in a file of its own, over one of the drivers. */
function openWith(driver: OpenDriver): OpenSubject {
  return async (options = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-store-'));
    await placeEmptyDatabase(join(folder, 'waybill.db'));
    return openIn(folder, { driver, ...options });
  };
}

function openIn(folder: string, options: SqliteOptions & { readonly driver: OpenDriver }): Subject {
  const { driver } = options;
  const path = join(folder, 'waybill.db');
  const stores = openSqlite(path, options);
  return {
    ...stores,
    reopen: async () => {
      await stores.store.close();
      return openIn(folder, options);
    },
    books: async () => readBooks(driver, path),
    close: async () => {
      await stores.store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

storeContract('better-sqlite3', openWith(openBetterSqlite3));
storeContract('node:sqlite', openWith(openNodeSqlite));
