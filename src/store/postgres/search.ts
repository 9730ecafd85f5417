import { MESSAGE_STATUSES, type MessageStatus } from '../../domain/delivery.ts';
import type { MailQuery } from '../../domain/query.ts';
import { type MailFacts, queryTest, type RecipientFacts } from '../../domain/query-test.ts';
import { messageIdFloor } from '../../lib/id.ts';
import type { Database, Parameter, Queries } from '../../postgres/database.ts';
import { indexable } from '../../postgres/text.ts';
import { fromJson, replyLine } from '../columns.ts';
import { areTroubled, hopWanted, MAX_OF_HOP } from '../matching.ts';
import { StoreError } from '../store.ts';
import {
  type FoundCount,
  type FoundPage,
  MAX_COUNTED,
  MAX_EXAMINED,
  MAX_LISTED_CHARACTERS,
  type SearchQuery,
} from '../views.ts';
import { readDetails, textLength } from './records.ts';
import { among, spanned } from './tables.ts';
import { entriesWanted } from './words.ts';

/** The limits of a list or a search. */
export interface ListLimits {
  /** Records for a page; default `MAX_EXAMINED`. */
  readonly maxExamined?: number;
}

/** Most searches under way. */
const MAX_SEARCHES = 16;
/** Candidates examined together. */
const MAX_CHUNK = 500;
/** Most unindexed messages, the newest, that are examined one by one. */
const MAX_PENDING = 2_000;
/** Sorts after every message id. */
const NEWEST = '~';
const START_OF_ID = /^msg_[0-9a-z]{0,26}$/;

/** The views `search` and `countFound`. */
export class Searches {
  readonly #database: Database;
  readonly #maxExamined: number;
  #underWay = 0;

  constructor(database: Database, { maxExamined = MAX_EXAMINED }: ListLimits) {
    this.#database = database;
    this.#maxExamined = maxExamined;
  }

  /** A page, as `Views.search` promises. All of it shows one state of the database. */
  search(query: SearchQuery): Promise<FoundPage> {
    return this.#enter((db) => foundPage(db, query, this.#maxExamined));
  }

  /** As `Views.countFound` promises. */
  count(query: SearchQuery): Promise<FoundCount> {
    return this.#enter(async (db) => {
      const { ids, next } = await find(db, query, Math.min(this.#maxExamined, MAX_COUNTED));
      return { count: ids.length, more: next !== null };
    });
  }

  async #enter<T>(work: (db: Queries) => Promise<T>): Promise<T> {
    if (this.#underWay >= MAX_SEARCHES) throw new StoreError('store_busy', 'too many searches are under way');
    this.#underWay++;
    try {
      return await this.#database.inSnapshot(work);
    } finally {
      this.#underWay--;
    }
  }
}

/** A page of a query's results, with at most as much text as a page may have. */
export async function foundPage(db: Queries, query: SearchQuery, maxExamined: number): Promise<FoundPage> {
  const { ids, next, behind } = await find(db, query, maxExamined);
  const messages: FoundPage['messages'][number][] = [];
  let characters = 0;
  for (const { row, message, recipients } of await readDetails(db, ids)) {
    messages.push(message);
    characters += textLength(row) + recipients.reduce((sum, { address }) => sum + address.length, 0);
    if (characters >= MAX_LISTED_CHARACTERS && message.id !== ids.at(-1))
      return { messages, next: message.id, behind };
  }
  return { messages, next, behind };
}

/** Returns at most `limit` ids below `before`, the newest first; fewer only at the end. */
type Candidates = (before: string, limit: number) => Promise<readonly string[]>;

interface Found {
  readonly ids: readonly string[];
  readonly next: string | null;
  readonly behind: number;
}

/** Examines candidates until the page is full or the budget of records is spent. */
async function find(db: Queries, wanted: SearchQuery, maxExamined: number): Promise<Found> {
  const { floor, ceiling } = boundsOf(wanted);
  const { candidates, behind, rest } = await candidatesOf(db, wanted, floor, ceiling, maxExamined);
  const test = queryTest(wanted.query) ?? (() => true);
  const needs = needsOf(wanted.query);
  const ids: string[] = [];
  let next = wanted.before;
  let left = maxExamined;
  for (;;) {
    const size = Math.min(left, MAX_CHUNK);
    const chunk = await candidates(next !== null && next < ceiling ? next : ceiling, size);
    for (const facts of await readFacts(db, chunk, needs)) {
      const matches = test(facts);
      if (matches && ids.length === wanted.limit) return { ids, next, behind };
      if (matches) ids.push(facts.id);
      left -= 1 + facts.recipients().length;
      next = facts.id;
      if (left <= 0) return { ids, next, behind };
    }
    next = chunk.at(-1) ?? next;
    if (chunk.length < size) return { ids, next: rest, behind };
  }
}

/** The ids that times and id prefixes allow: from `floor` up to, and without, `ceiling`. */
function boundsOf({ query, after }: SearchQuery) {
  let floor = query.since === null ? '' : messageIdFloor(query.since);
  let ceiling = query.until === null ? NEWEST : messageIdFloor(query.until);
  // Excludes `after` itself: no id is the prefix of another.
  if (after !== null && after >= floor) floor = `${after}!`;
  for (const term of query.terms) {
    if (term.kind !== 'id' || term.not || !START_OF_ID.test(term.start)) continue;
    if (term.start > floor) floor = term.start;
    const end = `${term.start}${NEWEST}`;
    if (end < ceiling) ceiling = end;
  }
  return { floor, ceiling };
}

/**
 * The source of candidates. The word index finds what few messages have; what many have is soon met by walking from the
 * newest on.
 */
async function candidatesOf(
  db: Queries,
  { query, before, complete }: SearchQuery,
  floor: string,
  ceiling: string,
  maxExamined: number,
): Promise<Way> {
  const entries = entriesWanted(query);
  const walk = { candidates: walking(db, query, floor), behind: 0, rest: null };
  if (entries.length === 0 || hopWanted(query) !== null) return walk;
  const most = Math.floor(maxExamined / 2);
  const top = before !== null && before < ceiling ? before : ceiling;
  const rows = await db.rows<{ id: string }>(BY_WORDS, [entries, top, floor, most + 1]);
  if (rows.length > most) return walk;
  const few = Math.min(most, MAX_PENDING);
  const pending = await db.rows<{ id: string }>(PENDING, [complete ? top : ceiling, floor, few + 1]);
  const isMore = pending.length > few;
  const newest = pending.slice(0, few);
  const rest = complete && isMore ? (newest.at(-1)?.id ?? null) : null;
  const found = [...rows, ...newest].map(({ id }) => id).filter((id) => rest === null || id >= rest);
  const ids = [...new Set(found)].sort().reverse();
  return {
    candidates: async (from, limit) => ids.filter((id) => id < from).slice(0, limit),
    behind: isMore && !complete ? pending.length : 0,
    rest,
  };
}

/** See {@link candidatesOf}. */
interface Way {
  readonly candidates: Candidates;
  /** See `FoundPage.behind`. */
  readonly behind: number;
  /** Where the next page begins after the last candidate; null if nothing is left. */
  readonly rest: string | null;
}

/** Walks the narrowest index of ids. */
function walking(db: Queries, query: MailQuery, floor: string): Candidates {
  const { terms, keys, statuses } = query;
  const reading =
    (sql: string, ...parameters: readonly Parameter[]): Candidates =>
    async (before, limit) => {
      const rows = await db.rows<{ id: string }>(sql, [before, floor, limit, ...parameters]);
      return rows.map(({ id }) => id);
    };
  const hop = hopWanted(query);
  if (hop !== null) return reading(OF_HOP, indexable(hop));
  const tag = terms.find((term) => term.kind === 'tag' && !term.not);
  if (tag?.kind === 'tag') return reading(OF_TAG, indexable(tag.tag));
  if (keys !== null) return reading(OF_KEYS, keys, statuses ?? MESSAGE_STATUSES);
  return statuses !== null && areTroubled(statuses) ? reading(OF_TROUBLED, statuses) : reading(ALL);
}

/** What a query needs to be read, beyond what it always asks of a message. */
interface Needs {
  readonly metadata: boolean;
  readonly recipients: boolean;
  /** What next hops said of the recipients. */
  readonly replies: boolean;
}

function needsOf({ terms, relays, notRelays, captured }: MailQuery): Needs {
  const fields: string[] = terms.flatMap((term) => ('field' in term ? term.field : []));
  const replies = fields.includes('reply') || terms.some(({ kind }) => kind === 'hop');
  const isOfRelays = relays !== null || notRelays.length > 0 || captured !== null;
  return {
    metadata: fields.includes('metadata'),
    recipients: replies || isOfRelays || fields.includes('to') || fields.includes('any'),
    replies,
  };
}

interface FactsRow {
  readonly id: string;
  readonly status: MessageStatus;
  readonly keyId: string | null;
  readonly test: boolean;
  readonly headerFrom: string;
  readonly reversePath: string;
  readonly subject: string;
  readonly messageId: string;
  readonly tags: string;
  readonly box: string | null;
  readonly metadata: string;
  readonly sendAt: number | null;
}

interface RecipientRow extends Omit<RecipientFacts, 'reply'> {
  readonly message: string;
  readonly lastCode: number | null;
  readonly lastEnhanced: string | null;
  readonly lastReply: string | null;
}

async function readFacts(db: Queries, ids: readonly string[], needs: Needs): Promise<readonly MailFacts[]> {
  if (ids.length === 0) return [];
  const rows = await db.rows<FactsRow>(needs.metadata ? FACTS_WITH_METADATA : FACTS, spanned(ids));
  const sql = needs.replies ? RECIPIENTS_WITH_REPLIES : RECIPIENTS;
  const recipients = needs.recipients ? await db.rows<RecipientRow>(sql, spanned(ids)) : [];
  const facts = recipients.map(({ lastCode, lastEnhanced, lastReply, ...row }) => ({
    ...row,
    reply: () => replyLine(lastCode, lastEnhanced, lastReply),
  }));
  const byMessage = Map.groupBy(facts, ({ message }) => message);
  return rows.map(({ headerFrom, tags, metadata, ...row }) => ({
    ...row,
    from: headerFrom,
    tags: fromJson<string[]>(tags),
    metadata: () => Object.values(fromJson<Record<string, string>>(metadata)),
    recipients: () => byMessage.get(row.id) ?? [],
  }));
}

const RANGE = 'id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3';
const ALL = `SELECT id FROM messages WHERE ${RANGE}`;
const OF_TAG = `SELECT id FROM message_tags WHERE tag = $4 AND ${RANGE}`;
const OF_HOP = `SELECT id FROM (
    SELECT DISTINCT message AS id FROM (
      SELECT message FROM deliveries WHERE provider_message_id = $4 ORDER BY message DESC LIMIT ${MAX_OF_HOP}) AS named
  ) AS found WHERE ${RANGE}`;
const OF_TROUBLED = `SELECT page.id FROM unnest($4::text[]) AS wanted (status), LATERAL (
    SELECT id FROM messages
    WHERE status IN ('failed', 'retrying') AND (status, id) < (wanted.status, $1) AND (status, id) >= (wanted.status, $2)
      AND id < $1 AND id >= $2
    ORDER BY status DESC, id DESC LIMIT $3) AS page
  ORDER BY page.id DESC LIMIT $3`;
const OF_KEYS = `SELECT page.id FROM unnest($4::text[]) AS key (id), unnest($5::text[]) AS wanted (status), LATERAL (
    SELECT messages.id FROM messages
    WHERE key_id = key.id AND (messages.status, messages.id) < (wanted.status, $1)
      AND (messages.status, messages.id) >= (wanted.status, $2) AND messages.id < $1 AND messages.id >= $2
    ORDER BY messages.status DESC, messages.id DESC LIMIT $3) AS page
  ORDER BY page.id DESC LIMIT $3`;
// Unordered: this limits how many are read, however many there are.
const BY_WORDS = 'SELECT id FROM message_words WHERE words @> $1::text[] AND id < $2 AND id >= $3 LIMIT $4';
const PENDING = `SELECT id FROM pending_words WHERE ${RANGE}`;
const FACTS = factsWith(`'{}'`);
const FACTS_WITH_METADATA = factsWith('metadata');
const RECIPIENTS = recipientsWith(
  `NULL AS "hopId", NULL AS "lastCode", NULL AS "lastEnhanced", NULL AS "lastReply"`,
);
const RECIPIENTS_WITH_REPLIES = recipientsWith(
  `provider_message_id AS "hopId", last_code AS "lastCode", last_enhanced AS "lastEnhanced", last_reply AS "lastReply"`,
);

function factsWith(metadata: string): string {
  return `SELECT messages.id, status, key_id AS "keyId", test, header_from AS "headerFrom",
    reverse_path AS "reversePath", subject, message_id AS "messageId", tags, box, ${metadata} AS metadata,
    not_before AS "sendAt"
  FROM messages WHERE ${among('id')} ORDER BY id DESC`;
}

function recipientsWith(replies: string): string {
  return `SELECT message, address, relay, coalesce(outcome = 'captured', false) AS captured, ${replies}
  FROM deliveries WHERE ${among('message')}`;
}
