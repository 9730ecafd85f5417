import { MESSAGE_STATUSES, type MessageStatus } from '../../domain/delivery.ts';
import { addressTest } from '../../domain/mailbox.ts';
import type { MessageRecord } from '../../domain/message.ts';
import { messageIdFloor } from '../../lib/id.ts';
import type { Database, Parameter, Queries } from '../../postgres/database.ts';
import { indexable } from '../../postgres/text.ts';
import { areTroubled, searchOf, textTest } from '../matching.ts';
import { StoreError } from '../store.ts';
import { askerOf, type ListPage, type ListQuery, MAX_EXAMINED, MAX_LISTED_CHARACTERS } from '../views.ts';
import { readDetails, textLength } from './records.ts';
import { foundPage, type ListLimits } from './search.ts';
import { among, spanned } from './tables.ts';

/** Most lists under way, of one asker and in total. */
const MAX_LISTS = 64;
const MAX_LISTS_PER_ASKER = 16;
/** Most candidates read at once. */
const MAX_CHUNK = 2_000;
/** Messages of a page read at once: few, since each may be large and end the page. */
const PORTION = 10;

/** Sorts after every message id. */
const NEWEST = '~';

/** The view `list`. */
export class Lists {
  readonly #database: Database;
  readonly #maxExamined: number;
  readonly #underWay = new Map<string, number>();

  constructor(database: Database, { maxExamined = MAX_EXAMINED }: ListLimits) {
    this.#database = database;
    this.#maxExamined = maxExamined;
  }

  /** A page, as `Views.list` promises. All of it shows one state of the database. */
  async list(query: ListQuery): Promise<ListPage> {
    const asker = askerOf(query);
    const own = this.#underWay.get(asker) ?? 0;
    const count = [...this.#underWay.values()].reduce((sum, one) => sum + one, 0);
    if (own >= MAX_LISTS_PER_ASKER || count >= MAX_LISTS)
      throw new StoreError('store_busy', 'too many lists are under way');
    this.#underWay.set(asker, own + 1);
    try {
      return await this.#database.inSnapshot((db) => pageOf(db, query, this.#maxExamined));
    } finally {
      this.#leave(asker);
    }
  }

  #leave(asker: string): void {
    const own = this.#underWay.get(asker) ?? 0;
    if (own > 1) this.#underWay.set(asker, own - 1);
    else this.#underWay.delete(asker);
  }
}

async function pageOf(db: Queries, query: ListQuery, maxExamined: number): Promise<ListPage> {
  const wanted = searchOf(query);
  if (wanted === null) return await new Page(db, query, maxExamined).find();
  const { messages, next } = await foundPage(db, wanted, maxExamined);
  return { messages, next };
}

/** One page: examines a limited number of records, which are messages and, if they are needed, recipients. */
class Page {
  readonly #db: Queries;
  readonly #query: ListQuery;
  readonly #messages: MessageRecord[] = [];
  #left: number;
  #next: string | null;
  #characters = 0;

  constructor(db: Queries, query: ListQuery, maxExamined: number) {
    this.#db = db;
    this.#query = query;
    this.#left = maxExamined;
    this.#next = query.before;
  }

  async find(): Promise<ListPage> {
    const { before: top, limit, filter } = this.#query;
    const { since = null, until = null } = filter ?? {};
    const source = sourceOf(this.#query);
    const floor = since === null ? '' : messageIdFloor(since);
    let before = lower(top ?? NEWEST, until === null ? NEWEST : messageIdFloor(until));
    for (let chunk = limit + 1; this.#left > 0; chunk = Math.min(chunk * 2, MAX_CHUNK)) {
      const size = Math.min(chunk, this.#left);
      const candidates = await source(this.#db, before, floor, size);
      const isOver = await this.#look(candidates);
      if (isOver) break;
      if (candidates.length < size) return { messages: this.#messages, next: null };
      before = this.#next ?? before;
    }
    return { messages: this.#messages, next: this.#next };
  }

  /** Examines candidates in order. Returns whether the page is complete, and ends it after the last one examined. */
  async #look(candidates: readonly Candidate[]): Promise<boolean> {
    const belongs = await this.#test(candidates);
    let matches: string[] = [];
    for (const candidate of candidates) {
      const isMatch = belongs(candidate);
      const isFull = this.#messages.length + matches.length === this.#query.limit;
      if (this.#left <= 0 || (isMatch && isFull)) {
        await this.#show(matches);
        return true;
      }
      this.#left -= costOf(candidate, this.#query);
      this.#next = candidate.id;
      if (isMatch) matches.push(candidate.id);
      if (matches.length < PORTION) continue;
      if (await this.#show(matches)) return true;
      matches = [];
    }
    return this.#show(matches);
  }

  /**
   * Reads what belongs on the page. Returns whether the page is large enough, and then ends it after the last one
   * shown.
   */
  async #show(ids: readonly string[]): Promise<boolean> {
    if (ids.length === 0) return false;
    const details = await readDetails(this.#db, ids);
    for (const { row, message, recipients } of details) {
      this.#messages.push(message);
      this.#characters += textLength(row) + recipients.reduce((sum, { address }) => sum + address.length, 0);
      if (this.#characters < MAX_LISTED_CHARACTERS) continue;
      this.#next = message.id;
      return true;
    }
    return false;
  }

  /** Tests what no index has answered. The addresses of all candidates within the slice are read at once. */
  async #test(candidates: readonly Candidate[]): Promise<(candidate: Candidate) => boolean> {
    const { statuses, filter } = this.#query;
    const wanted: ReadonlySet<MessageStatus> = new Set(statuses.length === 0 ? MESSAGE_STATUSES : statuses);
    const texts = textTest(filter);
    const isWanted = (isCaptured: boolean, box: string | null) =>
      (filter?.captured !== true || isCaptured) && (filter?.box === undefined || filter.box === box);
    const isRight = ({ status, captured, box, headerFrom, reversePath, subject }: Candidate) =>
      wanted.has(status) &&
      isWanted(captured, box) &&
      (texts === null || texts(headerFrom, reversePath, subject));
    const to = filter?.to ?? null;
    if (to === null) return isRight;
    const reached = within(candidates, this.#left, this.#query).filter(isRight);
    const isAddress = addressTest(to);
    const rows = await this.#db.rows<{ message: string; address: string }>(
      READ_ADDRESSES,
      spanned(reached.map(({ id }) => id)),
    );
    const found = new Set(rows.filter(({ address }) => isAddress(address)).map(({ message }) => message));
    return ({ id }) => found.has(id);
  }
}

/** How many records a candidate costs: recipients are records too. */
function costOf({ recipients }: Candidate, { filter }: ListQuery): number {
  return (filter?.to ?? null) === null ? 1 : 1 + recipients;
}

/** The candidates that may be examined, including the one that exceeds the budget. */
function within(candidates: readonly Candidate[], budget: number, query: ListQuery): Candidate[] {
  let left = budget;
  return candidates.filter((candidate) => {
    const isReached = left > 0;
    left -= costOf(candidate, query);
    return isReached;
  });
}

function lower(a: string, b: string): string {
  return a < b ? a : b;
}

const READ_ADDRESSES = `SELECT message, address FROM deliveries WHERE ${among('message')}`;

/** A message that may belong on a page, with the fields that decide. */
interface Candidate {
  readonly id: string;
  readonly status: MessageStatus;
  readonly headerFrom: string;
  readonly reversePath: string;
  readonly subject: string;
  /** The local inbox captured it, and keeps its contents. */
  readonly captured: boolean;
  readonly box: string | null;
  /** Number of its recipients. */
  readonly recipients: number;
}

/** Returns at most `limit` candidates with ids from `floor` up to, and without, `before`; the newest first. */
type Source = (db: Queries, before: string, floor: string, limit: number) => Promise<Candidate[]>;

/**
 * The narrowest index for a list: by tag, by key and status, of troubled mail, or of all ids. The caller tests what the
 * index does not distinguish.
 */
function sourceOf({ owner, statuses, filter }: ListQuery): Source {
  const tag = filter?.tag == null ? null : indexable(filter.tag);
  if (owner === 'all' && tag === null) {
    if (filter?.captured) return reading(CAPTURED);
    const isTold = statuses.length > 0 && areTroubled(statuses);
    return isTold ? reading(OF_TROUBLED, [...new Set(statuses)]) : reading(ALL);
  }
  if (owner === 'all') return reading(OF_TAG, tag ?? '');
  if (tag === null && filter?.captured && filter.box !== undefined)
    return reading(CAPTURED_OF_BOX, owner.keyId, filter.box);
  if (tag === null && filter?.captured) return reading(CAPTURED_OF_KEY, owner.keyId);
  if (tag !== null) return reading(OF_KEY_AND_TAG, owner.keyId, tag);
  return reading(OF_KEY, owner.keyId, statuses.length === 0 ? MESSAGE_STATUSES : [...new Set(statuses)]);
}

function reading(sql: string, ...parameters: readonly Parameter[]): Source {
  return (db, before, floor, limit) => db.rows<Candidate>(sql, [before, floor, limit, ...parameters]);
}

const COLUMNS = `messages.id, messages.status, messages.header_from AS "headerFrom",
  messages.reverse_path AS "reversePath", messages.subject,
  coalesce(messages.kept = 'captured', false) AS captured, messages.box,
  messages.queued + messages.processing + messages.retrying + messages.delivered + messages.failed AS recipients`;

const ALL = `SELECT ${COLUMNS} FROM messages WHERE id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3`;

const CAPTURED = `SELECT ${COLUMNS} FROM messages
  WHERE kept = 'captured' AND id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3`;

const CAPTURED_OF_KEY = `SELECT ${COLUMNS} FROM messages
  WHERE kept = 'captured' AND key_id = $4 AND id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3`;

const CAPTURED_OF_BOX = `SELECT ${COLUMNS} FROM messages
  WHERE kept = 'captured' AND key_id = $4 AND box = $5 AND id < $1 AND id >= $2 ORDER BY id DESC LIMIT $3`;

// A merge of the key's statuses, each read in the order of its index, since the planner might otherwise walk all ids.
// The bounds on ids leave out days.
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
