import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/lib/clock.ts';
import type { ContentKeys } from '../../src/spool/sealing.ts';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import { LoggedStore } from '../../src/store/logged/logged-store.ts';
import { replay } from '../../src/store/logged/replay.ts';
import { type BehindTerms, registryBehind, viewsBehind } from '../../src/store/logged/written-behind.ts';
import { openBetterSqlite3 } from '../../src/store/sqlite/driver.ts';
import { openSqlite, type SqliteOptions } from '../../src/store/sqlite/open.ts';
import { testKeys } from '../support/content-keys.ts';
import { placeEmptyDatabase } from '../support/empty-database.ts';
import { UNLESS_ASKED, withoutFlushes } from '../support/logged-rig.ts';
import { readBooks } from '../support/sqlite-books.ts';
import { mailContract, storeContract } from './store/contract.ts';
import type { OpenSubject, Subject } from './store/fixtures.ts';

/** SQLite behind the log, in a folder of its own. */
function openWith(behind: BehindTerms, keys: ContentKeys | null = null): OpenSubject {
  return async (options = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-log-'));
    await placeEmptyDatabase(join(folder, 'waybill.db'));
    return await openIn(folder, { ...options, behind, keys });
  };
}

async function openIn(
  folder: string,
  options: SqliteOptions & { readonly behind: BehindTerms; readonly keys: ContentKeys | null },
): Promise<Subject> {
  const path = join(folder, 'waybill.db');
  const stores = openSqlite(path, options);
  const { files } = withoutFlushes();
  const { keys } = options;
  const spool = await openSegmentSpool({ directory: join(folder, 'spool'), files, keys, onFailure() {} });
  const { applying } = stores;
  await replay(spool, applying);
  const logged = new LoggedStore({
    ...stores,
    log: spool,
    spool,
    clock: systemClock,
    behind: options.behind,
  });
  const written = () => logged.written();
  const inner = logged.asStore();
  const close = async () => {
    await inner.close();
    await spool.close();
  };
  const store = { ...inner, close };
  return {
    ...stores,
    store,
    suppressions: logged.listOver(stores.suppressions),
    holdPseudonymKey: async (key) => {
      logged.holdPseudonymKey(key);
      await stores.holdPseudonymKey(key);
    },
    views: viewsBehind(written, stores.views),
    registry: registryBehind(written, stores.registry),
    reopen: async () => {
      await close();
      return await openIn(folder, options);
    },
    books: async () => {
      await written();
      return readBooks(openBetterSqlite3, path);
    },
    close: async () => {
      await close();
      rmSync(folder, { recursive: true });
    },
  };
}

storeContract('SQLite behind the log', openWith({}));
mailContract('SQLite behind the log, written after every flush', openWith({ facts: 1 }));
mailContract(
  'SQLite behind an encrypted log, written when somebody asks',
  openWith(UNLESS_ASKED, testKeys()),
);
