/** A store behind the log, over segments on a disk that a test can hold up or fail, and a database in memory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import type { FactLog, Spool } from '../../src/spool/spool.ts';
import type { Applying } from '../../src/store/applying.ts';
import { LoggedStore } from '../../src/store/logged/logged-store.ts';
import { replay } from '../../src/store/logged/replay.ts';
import type { BehindTerms } from '../../src/store/logged/written-behind.ts';
import { openSqlite, type SqliteStores } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { FaultyFiles } from './faulty-files.ts';
import { ManualClock } from './manual-clock.ts';

/** Only what asks for it writes behind. */
export const UNLESS_ASKED: BehindTerms = { facts: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY };

/** What a test has in its hands. */
export interface LoggedRig {
  readonly store: Store;
  readonly logged: LoggedStore;
  readonly inner: SqliteStores;
  readonly spool: Spool & FactLog;
  readonly disk: FaultyFiles;
  readonly clock: ManualClock;
  close(): Promise<void>;
}

/** Opens one. `around` stands between the log and the database. */
export async function openLoggedRig(
  behind: BehindTerms = UNLESS_ASKED,
  around: (inner: SqliteStores) => {
    readonly applying?: Pick<Applying, 'apply'>;
    readonly store?: Store;
  } = () => ({}),
): Promise<LoggedRig> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-logged-'));
  const inner = openSqlite(':memory:');
  const disk = withoutFlushes();
  const spool = await openSegmentSpool({
    directory: join(folder, 'spool'),
    files: disk.files,
    onFailure() {},
  });
  await replay(spool, inner.applying);
  const clock = new ManualClock();
  const logged = new LoggedStore({ ...inner, ...around(inner), log: spool, spool, clock, behind });
  const close = async () => {
    await spool.close();
    await inner.store.close();
    rmSync(folder, { recursive: true });
  };
  return { store: logged.asStore(), logged, inner, spool, disk, clock, close };
}

/** Files that are never flushed: for tests of what is not about power cuts. */
export function withoutFlushes(): FaultyFiles {
  const disk = new FaultyFiles();
  disk.set('fdatasync', async () => {});
  disk.set('fsync', async () => {});
  return disk;
}

/** Holds up the next flush of the log: tells when it has begun, and lets it end. */
export function holdFlush(disk: FaultyFiles): { readonly begun: Promise<void>; release(): void } {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  disk.set('fdatasync', async () => {
    begun.resolve();
    await held.promise;
  });
  return { begun: begun.promise, release: () => held.resolve() };
}
