import type { Database, Queries } from '../../postgres/database.ts';
import {
  type Journal,
  type JournalEntry,
  type JournalPage,
  type JournalQuery,
  MAX_JOURNAL_ENTRIES,
  MAX_JOURNAL_EXAMINED,
  type NewJournalEntry,
  oldOnes,
  pageOf,
} from '../journal.ts';
import { Table } from './table.ts';

const NEW = new Table<NewJournalEntry>('journal', {
  at: 'bigint',
  actorKind: 'text',
  actor: 'text',
  sourceAddress: 'text',
  action: 'text',
  subject: 'text',
  before: 'text',
  after: 'text',
});

/** The journal over a database. */
export function journalOver(database: Database): Journal {
  return {
    record: (entries) =>
      database.transact(async (db) => {
        await NEW.insert(db, entries);
        await db.run(KEEP_NEWEST, [MAX_JOURNAL_ENTRIES]);
      }),
    entries: (query) => database.inSnapshot((db) => page(db, query)),
    forgetEntries: (before, limit) =>
      database.transact(async (db) => {
        const last = oldOnes(await db.rows<Pick<JournalEntry, 'number' | 'at'>>(OLDEST, [limit]), before);
        return last === null ? 0 : await db.run('DELETE FROM journal WHERE number <= $1', [last]);
      }),
  };
}

async function page(db: Queries, query: JournalQuery): Promise<JournalPage> {
  const briefs = await db.rows<Pick<JournalEntry, 'number' | 'actor' | 'action' | 'subject'>>(BRIEF, [
    query.before ?? Number.MAX_SAFE_INTEGER,
    MAX_JOURNAL_EXAMINED,
  ]);
  const { numbers, next } = pageOf(briefs, query);
  return { entries: await db.rows<JournalEntry>(ENTRIES, [numbers]), next };
}

const KEEP_NEWEST = 'DELETE FROM journal WHERE number <= (SELECT max(number) FROM journal) - $1';
const BRIEF = `SELECT number, actor, action, subject FROM journal WHERE number < $1
  ORDER BY number DESC LIMIT $2`;
const ENTRIES = `SELECT number, ${NEW.columns} FROM journal WHERE number = ANY($1::bigint[])
  ORDER BY number DESC`;
const OLDEST = 'SELECT number, at FROM journal ORDER BY number LIMIT $1';
