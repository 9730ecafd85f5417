import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBetterSqlite3 } from '../../src/store/sqlite/better-sqlite3.ts';
import type { OpenDriver } from '../../src/store/sqlite/driver.ts';
import { openNodeSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openSqlite, type SqliteOptions } from '../../src/store/sqlite/open.ts';
import { storeContract } from './store/contract.ts';
import type { OpenSubject, Subject } from './store/fixtures.ts';

/** A subject in a file of its own, over one of the drivers. */
function openWith(driver: OpenDriver): OpenSubject {
  return async (options = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-store-'));
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
    books: async () => {
      const other = driver(path);
      const queues = other.prepare<[], [string, number]>('SELECT key_id, messages FROM key_queues').all();
      const gauges = new Map(other.prepare<[], [string, number]>('SELECT name, value FROM gauges').all());
      other.close();
      return {
        queues: new Map(queues),
        sentBytes: gauges.get('sent_bytes') ?? 0,
        capturedBytes: gauges.get('captured_bytes') ?? 0,
      };
    },
    close: async () => {
      await stores.store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

storeContract('better-sqlite3', openWith(openBetterSqlite3));
storeContract('node:sqlite', openWith(openNodeSqlite));
