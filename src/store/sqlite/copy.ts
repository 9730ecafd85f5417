import Database from 'better-sqlite3';
import type { ContentRef } from '../../domain/message.ts';
import { type Driver, openBetterSqlite3 } from './driver.ts';
import { storeErrorOf } from './errors.ts';

/** Pages copied in one step: 1 MiB. */
const STEP_PAGES = 256;
/** Each page is read once, so a larger cache would only waste memory. */
const CACHE = 'PRAGMA cache_size = -1024';

/** Follows the progress of a copy. */
export interface CopyWatch {
  /** Called after every step; if it throws, the copy ends. It may take its time: nobody waits for this thread. */
  readonly step: (donePages: number, totalPages: number) => void;
}

/**
 * Copies a database, as it is now, into a single file while others write to it; none of them waits. Throws
 * `StoreError`.
 */
export async function copyDatabase(path: string, to: string, { step }: CopyWatch): Promise<void> {
  try {
    const source = new Database(path, { readonly: true, fileMustExist: true });
    try {
      // One state throughout: otherwise every write meanwhile would restart the copy.
      source.exec(CACHE);
      source.exec('BEGIN');
      source.prepare('SELECT count(*) FROM sqlite_schema').get();
      await source.backup(to, {
        progress: ({ totalPages, remainingPages }) => {
          step(totalPages - remainingPages, totalPages);
          return STEP_PAGES;
        },
      });
    } finally {
      source.close();
    }
    const copy = openBetterSqlite3(to);
    copy.exec('PRAGMA journal_mode = DELETE;');
    copy.close();
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** A copy of a database, for reading. */
export interface CopiedFacts {
  readonly schema: number;
  messages(): number;
  /** Segments with contents in use. */
  segments(): number[];
  /** Contents in use, in the order of acceptance: a page of those after `after`. */
  contents(after: number, limit: number): CopiedContent[];
  close(): void;
}

/** Contents that a message of the copy refers to. */
export interface CopiedContent {
  /** The `after` of the next page. */
  readonly seq: number;
  readonly messageId: string;
  readonly content: ContentRef;
}

/** Opens a copy. Throws `StoreError`. */
export function openCopy(path: string): CopiedFacts {
  let db: Driver;
  try {
    db = openBetterSqlite3(path);
    db.exec(CACHE);
    db.exec('PRAGMA query_only = ON;');
  } catch (error) {
    throw storeErrorOf(error);
  }
  const sql = {
    version: db.prepare<[], [number]>('PRAGMA user_version'),
    messages: db.prepare<[], [number]>('SELECT count(*) FROM messages'),
    segments: db.prepare<[], [number]>('SELECT segment FROM segments WHERE live > 0 ORDER BY segment'),
    contents: db.prepare<
      [after: number, limit: number],
      [seq: number, id: string, segment: number, offset: number, length: number]
    >(
      `SELECT seq, id, segment, offset, length FROM messages
       WHERE seq > ? AND segment IS NOT NULL ORDER BY seq LIMIT ?`,
    ),
  };
  return {
    schema: sql.version.get()?.[0] ?? 0,
    messages: () => sql.messages.get()?.[0] ?? 0,
    segments: () => sql.segments.all().map(([segment]) => segment),
    contents: (after, limit) =>
      sql.contents.all(after, limit).map(([seq, messageId, segment, offset, length]) => ({
        seq,
        messageId,
        content: { segment, offset, length },
      })),
    close: () => db.close(),
  };
}
