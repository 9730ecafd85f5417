import { wordsOf } from '../../domain/mail-words.ts';
import type { MailQuery, QueryTerm, WordField } from '../../domain/query.ts';
import type { Queries } from '../../postgres/database.ts';
import { fromJson } from '../columns.ts';
import type { IndexAnswer } from '../upkeep.ts';

/** The words of messages as the index holds them: each by itself, and behind its field's letter. */

const LETTERS: Readonly<Record<Exclude<WordField, 'any'> | 'tag' | 'id', string>> = {
  subject: 's',
  from: 'f',
  to: 't',
  tag: 'g',
  id: 'i',
};

/** A message whose words are not entered yet; all but its id is null when it was removed meanwhile. */
interface PendingRow {
  readonly id: string;
  readonly headerFrom: string | null;
  readonly reversePath: string;
  readonly subject: string;
  readonly messageId: string;
  readonly tags: string;
  readonly recipients: readonly string[] | null;
}

/** The verb `index`. What others enter is left to them. */
export async function indexWords(db: Queries, limit: number): Promise<IndexAnswer> {
  const rows = await db.rows<PendingRow>(READ_PENDING, [limit]);
  const kept = rows.filter(({ headerFrom }) => headerFrom !== null);
  if (kept.length > 0)
    // Arrays of arrays must be square: each message's words travel as JSON.
    await db.run(INSERT_WORDS, [kept.map(({ id }) => id), kept.map((row) => JSON.stringify(entriesOf(row)))]);
  if (rows.length > 0) await db.run(DELETE_PENDING, [rows.map(({ id }) => id)]);
  return { indexed: rows.length, more: rows.length === limit };
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
    from: [headerFrom ?? '', reversePath],
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

/** The entries that every message has that a query finds; what else it asks must be looked at. */
export function entriesWanted({ terms }: MailQuery): string[] {
  return [...new Set(terms.flatMap(entriesOfTerm))];
}

function entriesOfTerm(term: QueryTerm): string[] {
  if (term.not) return [];
  switch (term.kind) {
    case 'words': {
      const { field, words } = term;
      return field === 'any' ? [...words] : words.map((word) => entryOf(field, word));
    }
    case 'address':
      return wordsOf(term.address).map((word) => entryOf(term.field, word));
    case 'tag':
      return wordsOf(term.tag).map((word) => entryOf('tag', word));
    case 'id':
      return [];
  }
}

const READ_PENDING = `SELECT pending_words.id, header_from AS "headerFrom", reverse_path AS "reversePath", subject,
    message_id AS "messageId", tags,
    (SELECT array_agg(address) FROM deliveries WHERE message = pending_words.id) AS recipients
  FROM pending_words LEFT JOIN messages USING (id)
  ORDER BY pending_words.id DESC LIMIT $1 FOR UPDATE OF pending_words SKIP LOCKED`;
const INSERT_WORDS = `INSERT INTO message_words (id, words)
  SELECT id, ARRAY(SELECT json_array_elements_text(entries::json)) FROM unnest($1::text[], $2::text[]) AS new (id, entries)
  ON CONFLICT DO NOTHING`;
const DELETE_PENDING = 'DELETE FROM pending_words WHERE id = ANY($1::text[])';
