import type { MessageStatus } from '../../domain/delivery.ts';
import type { Driver } from './driver.ts';

/** The indexes that lists and searches walk, in the order of ids. */

/** An entry of an index. */
export type Entry = readonly [id: string, seq: number];

/** Gives at most `limit` entries with ids from `floor` up to, and without, `before`; the newest first. */
export type Source = (before: string, floor: string, limit: number) => Entry[];

type Range = [before: string, floor: string, limit: number];

/** Prepares a walk of each. */
export function prepareSources(db: Driver) {
  const ofOneKey = db.prepare<[keyId: string, status: string, ...Range], [id: string, seq: number]>(
    `SELECT id, seq FROM messages INDEXED BY messages_by_key
     WHERE key_id = (SELECT ?) AND status = (SELECT ?) AND ${PAGE}`,
  );
  const ofOneStatus = db.prepare<[status: string, ...Range], [id: string, seq: number]>(
    `SELECT id, seq FROM messages INDEXED BY messages_troubled
     WHERE status IN ('failed', 'retrying') AND status = (SELECT ?) AND ${PAGE}`,
  );
  return {
    all: db.prepare<Range, [id: string, seq: number]>(`SELECT id, seq FROM messages WHERE ${PAGE}`),
    captured: db.prepare<Range, [id: string, seq: number]>(
      `SELECT id, seq FROM messages INDEXED BY messages_in_inbox WHERE kept = 'captured' AND ${PAGE}`,
    ),
    capturedOfKey: db.prepare<[keyId: string, ...Range], [id: string, seq: number]>(
      `SELECT id, seq FROM messages INDEXED BY messages_in_inbox_by_key
       WHERE kept = 'captured' AND key_id = (SELECT ?) AND ${PAGE}`,
    ),
    // CROSS JOIN keeps the order of the loops: the tag's entries, and for each its message.
    ofTag: db.prepare<[tag: string, ...Range], [id: string, seq: number]>(
      `SELECT message_tags.id, seq FROM message_tags INDEXED BY message_tags_by_tag
         CROSS JOIN messages ON messages.id = message_tags.id
       WHERE tag = (SELECT ?) AND ${TAGS_PAGE}`,
    ),
    ofKeyAndTag: db.prepare<[keyId: string, tag: string, ...Range], [id: string, seq: number]>(
      `SELECT message_tags.id, seq FROM message_tags CROSS JOIN messages ON messages.id = message_tags.id
       WHERE message_tags.key_id = (SELECT ?) AND tag = (SELECT ?) AND ${TAGS_PAGE}`,
    ),
    /** A source for each status. */
    ofKey: (keyId: string, statuses: readonly MessageStatus[]): Source[] =>
      distinct(statuses).map(
        (status) =>
          (...range) =>
            ofOneKey.all(keyId, status, ...range),
      ),
    /** A source for each status, of those that `areTroubled`. */
    ofTroubled: (statuses: readonly MessageStatus[]): Source[] =>
      distinct(statuses).map(
        (status) =>
          (...range) =>
            ofOneStatus.all(status, ...range),
      ),
  };
}

function distinct(statuses: readonly MessageStatus[]): MessageStatus[] {
  return [...new Set(statuses)];
}

const PAGE = 'id < (SELECT ?) AND id >= (SELECT ?) ORDER BY id DESC LIMIT (SELECT ?)';
const TAGS_PAGE = `message_tags.id < (SELECT ?) AND message_tags.id >= (SELECT ?)
       ORDER BY message_tags.id DESC LIMIT (SELECT ?)`;
