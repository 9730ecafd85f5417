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

  function addWords([seq, id, from, reversePath, subject, messageId, tags]: IndexedRow): number {
    const to = sql.recipients.all(seq).map(([address]) => address);
    const columns = [[subject], [from, reversePath], to, fromJson<string[]>(tags), [messageId, id]];
    const texts = columns.map((texts) => texts.map(wordsOf));
    const [inSubject = '', sender = '', recipients = '', inTags = '', ids = ''] = texts.map((column) =>
      column.map((words) => words.join(' ')).join(` ${BOUNDARY} `),
    );
    sql.insert.run(seq, inSubject, sender, recipients, inTags, ids);
    return texts.flat().reduce((sum, { length }) => sum + length, 0);
  }
}

/** Removes messages from the index when they are deleted. */
export class WordIndex {
  readonly #sql;
  constructor(db: Driver) {
    this.#sql = prepareRemoval(db);
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

function prepareIndex(db: Driver) {
  const columns = 'seq, id, header_from, reverse_path, subject, message_id, tags';
  return {
    range: db.prepare<[], [low: number, high: number]>('SELECT low, high FROM search_range'),
    setRange: db.prepare<[low: number, high: number]>('UPDATE search_range SET low = ?, high = ?'),
    above: db.prepare<[high: number, limit: number], IndexedRow>(
      `SELECT ${columns} FROM messages WHERE seq > (SELECT ?) ORDER BY seq LIMIT (SELECT ?)`,
    ),
    below: db.prepare<[low: number, limit: number], IndexedRow>(
      `SELECT ${columns} FROM messages WHERE seq < (SELECT ?) ORDER BY seq DESC LIMIT (SELECT ?)`,
    ),
    recipients: db.prepare<[seq: number], [address: string]>(
      'SELECT address FROM deliveries WHERE message = (SELECT ?) ORDER BY idx',
    ),
    insert: db.prepare<
      [seq: number, subject: string, sender: string, recipients: string, tags: string, ids: string]
    >('INSERT INTO search (rowid, subject, sender, recipients, tags, ids) VALUES (?, ?, ?, ?, ?, ?)'),
  };
}

function prepareRemoval(db: Driver) {
  return {
    remove: db.prepare<[seq: number, same: number]>(
      'DELETE FROM search WHERE rowid = ? AND (SELECT ? BETWEEN low AND high FROM search_range)',
    ),
    // The next message's number is one more than the largest.
    recede: db.prepare(
      `UPDATE search_range SET low = min(low, last + 1), high = min(high, last)
       FROM (SELECT coalesce(max(seq), 0) AS last FROM messages)`,
    ),
  };
}
