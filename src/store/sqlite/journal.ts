import {
  type JournalEntry,
  type JournalPage,
  type JournalQuery,
  MAX_JOURNAL_ENTRIES,
  MAX_JOURNAL_EXAMINED,
  type NewJournalEntry,
  oldOnes,
  pageOf,
} from '../journal.ts';
import type { Driver } from './driver.ts';

/** Builds the verbs of the journal. */
export function journalVerbs(db: Driver) {
  const sql = prepareJournal(db);
  return {
    record: (entries: readonly NewJournalEntry[]): void => {
      for (const entry of entries) sql.add.run(...columnsOf(entry));
      sql.keepNewest.run(MAX_JOURNAL_ENTRIES);
    },
    entries: (query: JournalQuery): JournalPage => {
      const rows = sql.brief.all(query.before ?? Number.MAX_SAFE_INTEGER, MAX_JOURNAL_EXAMINED);
      const briefs = rows.map(([number, actor, action, subject]) => ({ number, actor, action, subject }));
      const { numbers, next } = pageOf(briefs, query);
      return { entries: numbers.flatMap((number) => entriesOf(sql.entry.get(number))), next };
    },
    forgetEntries: (before: number, limit: number): number => {
      const oldest = sql.oldest.all(limit).map(([number, at]) => ({ number, at }));
      const last = oldOnes(oldest, before);
      return last === null ? 0 : sql.forget.run(last);
    },
  };
}

type Columns = [
  at: number,
  actorKind: NewJournalEntry['actorKind'],
  actor: string,
  sourceAddress: string | null,
  action: string,
  subject: string,
  before: string | null,
  after: string | null,
];

function columnsOf(entry: NewJournalEntry): Columns {
  const { at, actorKind, actor, sourceAddress, action, subject, before, after } = entry;
  return [at, actorKind, actor, sourceAddress, action, subject, before, after];
}

function entriesOf(row: [number: number, ...Columns] | undefined): JournalEntry[] {
  if (row === undefined) return [];
  const [number, at, actorKind, actor, sourceAddress, action, subject, before, after] = row;
  return [{ number, at, actorKind, actor, sourceAddress, action, subject, before, after }];
}

const COLUMNS = 'at, actor_kind, actor, source_address, action, subject, before, after';

function prepareJournal(db: Driver) {
  return {
    add: db.prepare<Columns>(`INSERT INTO journal (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    keepNewest: db.prepare<[kept: number]>(
      'DELETE FROM journal WHERE number <= (SELECT max(number) FROM journal) - ?',
    ),
    brief: db.prepare<
      [before: number, limit: number],
      [number: number, actor: string, action: string, subject: string]
    >('SELECT number, actor, action, subject FROM journal WHERE number < ? ORDER BY number DESC LIMIT ?'),
    entry: db.prepare<[number: number], [number: number, ...Columns]>(
      `SELECT number, ${COLUMNS} FROM journal WHERE number = ?`,
    ),
    oldest: db.prepare<[limit: number], [number: number, at: number]>(
      'SELECT number, at FROM journal ORDER BY number LIMIT ?',
    ),
    forget: db.prepare<[last: number]>('DELETE FROM journal WHERE number <= ?'),
  };
}
