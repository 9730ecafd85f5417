import {
  type Journal,
  type JournalEntry,
  MAX_JOURNAL_ENTRIES,
  MAX_JOURNAL_EXAMINED,
  type NewJournalEntry,
  oldOnes,
  pageOf,
} from '../journal.ts';
import { among, Columns, sql } from './sql.ts';
import { rows, run, type Subject, send } from './work.ts';

const NEW = new Columns<NewJournalEntry>({
  at: sql`at`,
  actorKind: sql`actor_kind`,
  actor: sql`actor`,
  sourceAddress: sql`source_address`,
  action: sql`action`,
  subject: sql`subject`,
  before: sql`before`,
  after: sql`after`,
});

/** The journal. */
export const JOURNAL: Subject<Journal> = {
  reads: { entries: 'snapshot' },
  verbs: {
    *record(entries) {
      for (const entry of entries)
        yield* send`INSERT INTO journal (${NEW.names}) VALUES (${NEW.values(entry)})`;
      yield* send`DELETE FROM journal
        WHERE number <= (SELECT max(number) FROM journal) - ${MAX_JOURNAL_ENTRIES}`;
    },
    *entries(query) {
      const briefs = yield* rows<Pick<JournalEntry, 'number' | 'actor' | 'action' | 'subject'>>`
        SELECT number, actor, action, subject FROM journal
        WHERE number < ${query.before ?? Number.MAX_SAFE_INTEGER}
        ORDER BY number DESC LIMIT ${MAX_JOURNAL_EXAMINED}`;
      const { numbers, next } = pageOf(briefs, query);
      const entries = yield* rows<JournalEntry>`
        SELECT number, ${NEW.selected} FROM journal WHERE number ${among(numbers)} ORDER BY number DESC`;
      return { entries, next };
    },
    *forgetEntries(before, limit) {
      const oldest = yield* rows<Pick<JournalEntry, 'number' | 'at'>>`
        SELECT number, at FROM journal ORDER BY number LIMIT ${limit}`;
      const last = oldOnes(oldest, before);
      return last === null ? 0 : yield* run`DELETE FROM journal WHERE number <= ${last}`;
    },
  },
};
