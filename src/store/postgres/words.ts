import { wordsOf } from '../../domain/mail-words.ts';
import { type MailQuery, type QueryTerm, type WordField, wholeWordsOf } from '../../domain/query.ts';
import type { Queries } from '../../postgres/database.ts';
import { fromJson } from '../columns.ts';
import type { IndexAnswer } from '../upkeep.ts';
import { inSpan, spanned } from './tables.ts';

/** The words of messages as the index holds them: each alone, and prefixed with its field's letter. */

const LETTERS: Readonly<Record<Exclude<WordField, 'any'> | 'tag' | 'id', string>> = {
  subject: 's',
  from: 'f',
  to: 't',
  tag: 'g',
  id: 'i',
};

/** A message whose words are not indexed yet. */
interface PendingRow {
  readonly id: string;
  readonly headerFrom: string;
  readonly reversePath: string;
  readonly subject: string;
  readonly messageId: string;
  readonly tags: string;
  readonly recipients: readonly string[] | null;
}

/** The verb `index`. Skips what others are indexing. */
export async function indexWords(db: Queries, limit: number): Promise<IndexAnswer> {
  const ids = (await db.rows<{ id: string }>(LOCK_PENDING, [limit])).map(({ id }) => id);
  if (ids.length === 0) return { indexed: 0, more: false };
  // Skips messages removed meanwhile.
  const kept = await db.rows<PendingRow>(READ_PENDING, spanned(ids));
  if (kept.length > 0)
    // Arrays of arrays must be rectangular, so each message's words travel as JSON.
    await db.run(INSERT_WORDS, [kept.map(({ id }) => id), kept.map((row) => JSON.stringify(entriesOf(row)))]);
  await db.run(DELETE_PENDING, [ids]);
  return { indexed: ids.length, more: ids.length === limit };
}

function entriesOf({
  headerFrom,
  reversePath,
  subject,
  messageId,
  tags,
  recipients,
  id,
}: PendingRow): string[] {
  const fields = {
    subject: [subject],
    from: [headerFrom, reversePath],
    to: recipients ?? [],
    tag: fromJson<string[]>(tags),
    id: [messageId, id],
  };
  const entries = new Set<string>();
  for (const field of Object.keys(LETTERS) as (keyof typeof LETTERS)[])
    for (const word of fields[field].flatMap(wordsOf)) entries.add(word).add(entryOf(field, word));
  return [...entries];
}

function entryOf(field: keyof typeof LETTERS, word: string): string {
  return `${LETTERS[field]}:${word}`;
}

/** The index entries that every result of a query has; its other conditions must be tested. */
export function entriesWanted({ terms }: MailQuery): string[] {
  return [...new Set(terms.flatMap(entriesOfTerm))];
}

function entriesOfTerm(term: QueryTerm): string[] {
  if (term.not) return [];
  const words = wholeWordsOf(term);
  switch (term.kind) {
    case 'words': {
      const { field } = term;
      return field === 'any' ? [...words] : words.map((word) => entryOf(field, word));
    }
    case 'address':
      return words.map((word) => entryOf(term.field, word));
    case 'tag':
      return words.map((word) => entryOf('tag', word));
    case 'id':
      // An id contains no `@`; a Message-ID is looked up as a whole.
      return term.start.includes('@') ? words.map((word) => entryOf('id', word)) : [];
    case 'box':
    case 'hop':
    case 'part':
      return [];
  }
}

const LOCK_PENDING = 'SELECT id FROM pending_words ORDER BY id DESC LIMIT $1 FOR UPDATE SKIP LOCKED';
const READ_PENDING = `SELECT messages.id, header_from AS "headerFrom", reverse_path AS "reversePath", subject,
    message_id AS "messageId", tags,
    (SELECT array_agg(address) FROM deliveries WHERE message = messages.id AND ${inSpan('message')}) AS recipients
  FROM unnest($1::text[]) AS wanted (id) JOIN messages ON messages.id = wanted.id WHERE ${inSpan('messages.id')}`;
const INSERT_WORDS = `INSERT INTO message_words (id, words)
  SELECT id, ARRAY(SELECT json_array_elements_text(entries::json)) FROM unnest($1::text[], $2::text[]) AS new (id, entries)
  ON CONFLICT DO NOTHING`;
const DELETE_PENDING = 'DELETE FROM pending_words WHERE id = ANY($1::text[])';
