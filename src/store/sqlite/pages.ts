import { MESSAGE_STATUSES, type MessageStatus } from '../../domain/delivery.ts';
import { type ListQuery, MAX_EXAMINED } from '../views.ts';
import type { Driver } from './driver.ts';

/** Which messages are on a page, by number, and where the next page starts. */
export interface FoundPage {
  readonly seqs: readonly number[];
  readonly next: string | null;
}

type Entry = [id: string, seq: number];

/** Sorts after every message id. */
const NEWEST = '~';

/** Builds the search for pages: index entries only, never more of them than a page needs or may examine. */
export function pageFinder(db: Driver): (query: ListQuery) => FoundPage {
  const sql = preparePages(db);
  return (query) => {
    const before = query.before ?? NEWEST;
    if (query.owner !== 'all') return pageOfKey(query.owner.keyId, query.statuses, before, query.limit);
    return query.statuses.length === 0
      ? pageOf(sql.all.all(before, query.limit + 1), query.limit)
      : pageOfStatuses(query.statuses, before, query.limit);
  };

  /** Merges the key's statuses, each of which the index holds in order. */
  function pageOfKey(
    keyId: string,
    statuses: readonly MessageStatus[],
    before: string,
    limit: number,
  ): FoundPage {
    const wanted = statuses.length === 0 ? MESSAGE_STATUSES : new Set(statuses);
    const entries = [...wanted].flatMap((status) => sql.ofKey.all(keyId, status, before, limit + 1));
    entries.sort(([a], [b]) => (a < b ? 1 : -1));
    return pageOf(entries, limit);
  }

  /** Looks through everyone's messages, of which no index knows the status. */
  function pageOfStatuses(statuses: readonly MessageStatus[], before: string, limit: number): FoundPage {
    const entries = sql.ofStatuses.all(before, MAX_EXAMINED, JSON.stringify(statuses), limit + 1);
    if (entries.length > limit) return pageOf(entries, limit);
    const last = sql.lastExamined.get(before, MAX_EXAMINED - 1)?.[0] ?? null;
    return { seqs: entries.map(([, seq]) => seq), next: last };
  }
}

/** A page of entries in order, of which one more than `limit` shows that there is a next page. */
function pageOf(entries: readonly Entry[], limit: number): FoundPage {
  const page = entries.slice(0, limit);
  return {
    seqs: page.map(([, seq]) => seq),
    next: entries.length > limit ? (page.at(-1)?.[0] ?? null) : null,
  };
}

function preparePages(db: Driver) {
  return {
    all: db.prepare<[before: string, limit: number], Entry>(
      'SELECT id, seq FROM messages WHERE id < ? ORDER BY id DESC LIMIT ?',
    ),
    ofKey: db.prepare<[keyId: string, status: string, before: string, limit: number], Entry>(
      `SELECT id, seq FROM messages INDEXED BY messages_by_key
       WHERE key_id = ? AND status = ? AND id < ? ORDER BY id DESC LIMIT ?`,
    ),
    ofStatuses: db.prepare<[before: string, examined: number, statuses: string, limit: number], Entry>(
      `SELECT id, seq FROM
         (SELECT id, seq, status FROM messages WHERE id < ? ORDER BY id DESC LIMIT ?)
       WHERE status IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?`,
    ),
    lastExamined: db.prepare<[before: string, skip: number], [id: string]>(
      'SELECT id FROM messages WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    ),
  };
}
