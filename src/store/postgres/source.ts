import { MESSAGE_STATUSES, type MessageStatus } from '../../domain/delivery.ts';
import type { Parameter, Queries } from '../../postgres/database.ts';
import { indexable } from '../../postgres/text.ts';
import { areTroubled } from '../matching.ts';
import type { ListQuery } from '../views.ts';

/** A message that may belong on a page, with what that is decided by. */
export interface Candidate {
  readonly id: string;
  readonly status: MessageStatus;
  readonly headerFrom: string;
  readonly reversePath: string;
  readonly subject: string;
  /** The local inbox captured it, and keeps its contents. */
  readonly captured: boolean;
  /** How many it has. */
  readonly recipients: number;
}

/** Gives at most `limit` candidates with ids from `floor` up to, and without, `before`; the newest first. */
export type Source = (db: Queries, before: string, floor: string, limit: number) => Promise<Candidate[]>;

/**
 * The narrowest index for a list: that of a tag, that of a key by status, that of mail in trouble, or that of all ids. What
 * the index does not tell apart is left to the caller.
 */
export function sourceOf({ owner, statuses, filter }: ListQuery): Source {
  const tag = filter?.tag == null ? null : indexable(filter.tag);
  if (owner === 'all' && tag === null) {
    if (filter?.captured) return reading(CAPTURED);
    const isTold = statuses.length > 0 && areTroubled(statuses);
    return isTold ? reading(OF_TROUBLED, [...new Set(statuses)]) : reading(ALL);
  }
  if (owner === 'all') return reading(OF_TAG, tag ?? '');
  if (tag === null && filter?.captured) return reading(CAPTURED_OF_KEY, owner.keyId);
  if (tag !== null) return reading(OF_KEY_AND_TAG, owner.keyId, tag);
  return reading(OF_KEY, owner.keyId, statuses.length === 0 ? MESSAGE_STATUSES : [...new Set(statuses)]);
}

function reading(sql: string, ...parameters: readonly Parameter[]): Source {
  return (db, before, floor, limit) => db.rows<Candidate>(sql, [before, floor, limit, ...parameters]);
}

const COLUMNS = `messages.id, messages.status, messages.header_from AS "headerFrom",
  messages.reverse_path AS "reversePath", messages.subject,
  coalesce(messages.kept = 'captured', false) AS captured,
  messages.queued + messages.processing + messages.retrying + messages.delivered + messages.failed AS recipients`;

const ALL = `SELECT ${COLUMNS} FROM messages WHERE id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3`;

const CAPTURED = `SELECT ${COLUMNS} FROM messages
  WHERE kept = 'captured' AND id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3`;

const CAPTURED_OF_KEY = `SELECT ${COLUMNS} FROM messages
  WHERE kept = 'captured' AND key_id = $4 AND id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3`;

// A merge of the key's statuses, each of which is in the order of the index; asked as the index is ordered, because the planner
// may else walk all ids. What is asked of the id alone leaves out days.
const OF_KEY = `SELECT page.* FROM unnest($5::text[]) AS wanted (status), LATERAL (
    SELECT ${COLUMNS} FROM messages
    WHERE key_id = $4 AND (messages.status, id) < (wanted.status, $1) AND (messages.status, id) >= (wanted.status, $2)
      AND id < $1 AND id >= $2
    ORDER BY messages.status DESC, messages.id DESC LIMIT $3) AS page
  ORDER BY page.id DESC LIMIT $3`;

const OF_TROUBLED = `SELECT page.* FROM unnest($4::text[]) AS wanted (status), LATERAL (
    SELECT ${COLUMNS} FROM messages
    WHERE messages.status IN ('failed', 'retrying') AND (messages.status, id) < (wanted.status, $1)
      AND (messages.status, id) >= (wanted.status, $2) AND id < $1 AND id >= $2
    ORDER BY messages.status DESC, messages.id DESC LIMIT $3) AS page
  ORDER BY page.id DESC LIMIT $3`;

const TAGGED = `(SELECT id FROM message_tags WHERE WHICH AND id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3) AS tagged`;
const OF_TAG = `SELECT ${COLUMNS} FROM ${TAGGED.replace('WHICH', 'tag = $4')} JOIN messages USING (id)
  ORDER BY messages.id DESC`;
const OF_KEY_AND_TAG = `SELECT ${COLUMNS} FROM ${TAGGED.replace('WHICH', 'key_id = $4 AND tag = $5')}
  JOIN messages USING (id) ORDER BY messages.id DESC`;
