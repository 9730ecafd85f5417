import { wordsOf } from '../../domain/mail-words.ts';
import { fromJson } from '../columns.ts';
import type { IndexAnswer } from '../upkeep.ts';
import type { Driver } from './driver.ts';

/** Words that one transaction indexes: the message that exceeds it is the last. */
const MAX_BATCH_WORDS = 20_000;

/** Separates the texts of one column, so that no phrase spans two. No word contains it. */
const BOUNDARY = '\u{E000}';

/** Builds the verb `index`. New messages come first, which most people search for; then those from before the index. */
export function indexVerb(db: Driver): (limit: number) => IndexAnswer {
  const sql = prepareIndex(db);
  const addWords = wordsAdder(db);
  return (limit) => {
    const range = sql.range.get();
    if (range === undefined) throw new Error('the index has no range');
    let [low, high] = range;
    let words = 0;
    let indexed = 0;
    const add = (row: IndexedRow) => {
      words += addWords(row);
      indexed++;
      return indexed < limit && words < MAX_BATCH_WORDS;
    };
    let room = true;
    for (const row of sql.above.all(high, limit)) {
      high = row[0];
      room = add(row);
      if (!room) break;
    }
    for (const row of room ? sql.below.all(low, limit - indexed) : []) {
      low = row[0];
      room = add(row);
      if (!room) break;
    }
    if (indexed > 0) sql.setRange.run(low, high);
    return { indexed, more: !room };
  };
}

/** Builds what indexes the words of a message, and says how many they were. */
function wordsAdder(db: Driver): (row: IndexedRow) => number {
  const recipients = db.prepare<[seq: number], [address: string]>(
    'SELECT address FROM deliveries WHERE message = (SELECT ?) ORDER BY idx',
  );
  const insert = db.prepare<
    [seq: number, subject: string, sender: string, recipients: string, tags: string, ids: string]
  >('INSERT INTO search (rowid, subject, sender, recipients, tags, ids) VALUES (?, ?, ?, ?, ?, ?)');
  return ([seq, id, from, reversePath, subject, messageId, tags]) => {
    const to = recipients.all(seq).map(([address]) => address);
    const columns = [[subject], [from, reversePath], to, fromJson<string[]>(tags), [messageId, id]];
    const texts = columns.map((texts) => texts.map(wordsOf));
    const [inSubject = '', sender = '', inRecipients = '', inTags = '', ids = ''] = texts.map((column) =>
      column.map((words) => words.join(' ')).join(` ${BOUNDARY} `),
    );
    insert.run(seq, inSubject, sender, inRecipients, inTags, ids);
    return texts.flat().reduce((sum, { length }) => sum + length, 0);
  };
}

/** Removes messages from the index when they are deleted, and renews them when their texts change. */
export class WordIndex {
  readonly #sql;
  readonly #addWords;
  constructor(db: Driver) {
    this.#sql = prepareRemoval(db);
    this.#addWords = wordsAdder(db);
  }

  /** Indexes a message anew, if it was indexed. */
  renew(id: string): void {
    const row = this.#sql.indexed.get(id);
    if (row === undefined) return;
    this.remove(row[0]);
    this.#addWords(row);
  }

  /** Call this for each removed message. */
  remove(seq: number): void {
    this.#sql.remove.run(seq, seq);
  }

  /** Call this after messages were removed: numbers that will be reused must not count as indexed. */
  recede(): void {
    this.#sql.recede.run();
  }
}

type IndexedRow = [
  seq: number,
  id: string,
  headerFrom: string,
  reversePath: string,
  subject: string,
  messageId: string,
  tags: string,
];

const COLUMNS = 'seq, id, header_from, reverse_path, subject, message_id, tags';

function prepareIndex(db: Driver) {
  return {
    range: db.prepare<[], [low: number, high: number]>('SELECT low, high FROM search_range'),
    setRange: db.prepare<[low: number, high: number]>('UPDATE search_range SET low = ?, high = ?'),
    above: db.prepare<[high: number, limit: number], IndexedRow>(
      `SELECT ${COLUMNS} FROM messages WHERE seq > (SELECT ?) ORDER BY seq LIMIT (SELECT ?)`,
    ),
    below: db.prepare<[low: number, limit: number], IndexedRow>(
      `SELECT ${COLUMNS} FROM messages WHERE seq < (SELECT ?) ORDER BY seq DESC LIMIT (SELECT ?)`,
    ),
  };
}

function prepareRemoval(db: Driver) {
  return {
    remove: db.prepare<[seq: number, same: number]>(
      'DELETE FROM search WHERE rowid = ? AND (SELECT ? BETWEEN low AND high FROM search_range)',
    ),
    indexed: db.prepare<[id: string], IndexedRow>(
      `SELECT ${COLUMNS} FROM messages WHERE id = ? AND seq BETWEEN (SELECT low FROM search_range)
         AND (SELECT high FROM search_range)`,
    ),
    // The next message's number is one more than the largest.
    recede: db.prepare(
      `UPDATE search_range SET low = min(low, last + 1), high = min(high, last)
       FROM (SELECT coalesce(max(seq), 0) AS last FROM messages)`,
    ),
  };
}
