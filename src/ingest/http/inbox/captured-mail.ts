import { isInInbox, type MessageRecord } from '../../../domain/message.ts';
import type { Acts } from '../../../engine/contract.ts';
import { Problem } from '../../../http/problem.ts';
import { Few } from '../../../lib/few.ts';
import { readMessageId } from '../../../lib/id.ts';
import { type ListFilter, type ListPage, UNFILTERED, type Views } from '../../../store/views.ts';
import { messageNotFound } from '../find-message.ts';
import { type CapturedWords, type Gist, UNREADABLE } from './captured-words.ts';

/** Which captured messages; each that is not null must hold. */
export interface CapturedFilter
  extends Pick<ListFilter, 'tag' | 'to' | 'from' | 'subject' | 'since' | 'until'> {
  readonly box: string | null;
  /** Words that it says, in lower case; in any order. */
  readonly text: readonly string[];
  /** Only those with a file that is not shown within the text. */
  readonly hasAttachment: boolean;
}

/** All captured mail. */
export const ANY_CAPTURED: CapturedFilter = {
  ...UNFILTERED,
  box: null,
  text: [],
  hasAttachment: false,
};

/** Whose mail is looked for, and which of it. */
export interface CapturedSearch {
  readonly keyId: string;
  readonly filter: CapturedFilter;
  /** Only ids above this one; absent: any. */
  readonly after?: string | undefined;
  /**
   * Messages that are known not to say what the filter asks for, as whoever asks again and again remembers them: they are
   * not read, and what a page reads in vain is added.
   */
  readonly misfits?: Set<string>;
  /** A message is refused, not left out, if the filter asks for what it says and it cannot be read. */
  readonly refusesUnreadable?: boolean;
}

/** A page of a search. */
export interface CapturedQuery extends CapturedSearch {
  /** Only ids below this one; null starts at the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** A captured message, and what lists say of it. */
export interface CapturedEntry {
  readonly message: MessageRecord;
  readonly gist: Gist;
}

/** A page, newest first. */
export interface CapturedPage {
  readonly entries: readonly CapturedEntry[];
  /** `before` of the next page; null if there is none. */
  readonly next: string | null;
}

/** Messages of a page that are read for what they say; a page with a sparse filter may be short. */
const MAX_READ = 500;
/** Messages that are removed at once. */
const AT_ONCE = 500;
/** Of a page whose filter reads what messages say: records that are read at once, at first; then twice as many. */
const CHUNK = 20;
/** Lists under way. The others take turns, since a store refuses too many of one key. */
const LISTS = 8;
/** Messages that are remembered as misfits of one query. */
const MAX_MISFITS = 10_000;

/** Limits, for tests that go past them. */
interface CapturedLimits {
  readonly maxRead?: number;
  readonly atOnce?: number;
}

/** What captured mail is read from. */
export interface CapturedMailDeps {
  readonly views: Pick<Views, 'list' | 'message'>;
  readonly acts: Pick<Acts, 'discard'>;
  readonly words: CapturedWords;
}

/** The captured mail of keys that is still kept: each sees its own. */
export class CapturedMail {
  readonly #deps: CapturedMailDeps;
  readonly #maxRead: number;
  readonly #atOnce: number;
  readonly #lists = new Few(LISTS);

  constructor(deps: CapturedMailDeps, { maxRead = MAX_READ, atOnce = AT_ONCE }: CapturedLimits = {}) {
    this.#deps = deps;
    this.#maxRead = maxRead;
    this.#atOnce = atOnce;
  }

  /**
   * A page with what each message says. Rejects as `Views.list` does. Where the filter asks for what messages say, throws
   * the problem 503 when one cannot be read now, and 409 when one never can and the search refuses that.
   */
  async page({ limit, misfits, ...query }: CapturedQuery): Promise<CapturedPage> {
    const test = gistTest(query.filter);
    const entries: CapturedEntry[] = [];
    let { before } = query;
    let chunkSize = needsWords(query.filter) ? Math.max(limit, CHUNK) : limit;
    for (let left = this.#maxRead; left > 0; chunkSize *= 2) {
      const chunk = await this.#records({ ...query, before, limit: Math.min(left, chunkSize) });
      for (const message of chunk.messages) {
        if (entries.length === limit) return { entries, next: before };
        if (!misfits?.has(message.id)) {
          const gist = await this.#gist(message, query);
          if (gist !== null && test(gist)) entries.push({ message, gist });
          else if (misfits !== undefined && misfits.size < MAX_MISFITS) misfits.add(message.id);
        }
        before = message.id;
      }
      left -= chunk.messages.length;
      before = chunk.next;
      if (before === null || entries.length === limit || chunk.messages.length === 0) break;
    }
    return { entries, next: before };
  }

  /** A page of records. Messages are read only if the filter asks for what they say. Rejects as `Views.list` does. */
  async matching(query: CapturedQuery): Promise<ListPage> {
    if (!needsWords(query.filter)) return await this.#records(query);
    const { entries, next } = await this.page(query);
    return { messages: entries.map(({ message }) => message), next };
  }

  /** What a message says. Where the filter does not ask for it, one that cannot be read now says nothing. */
  async #gist(
    message: MessageRecord,
    { filter, refusesUnreadable = false }: CapturedSearch,
  ): Promise<Gist | null> {
    const isNeeded = needsWords(filter);
    try {
      const gist = await this.#deps.words.gist(message);
      if (gist === UNREADABLE && isNeeded && refusesUnreadable) throw doubtful(message);
      return gist;
    } catch (error) {
      if (isNeeded || !(error instanceof Problem)) throw error;
      return UNREADABLE;
    }
  }

  /** A page of records, whatever messages say. */
  async #records({ keyId, filter, after, before, limit }: CapturedQuery): Promise<ListPage> {
    const { text: _, hasAttachment: __, box, ...rest } = filter;
    const query = {
      owner: { keyId },
      statuses: [],
      filter: { ...rest, captured: true as const, ...(box !== null && { box }) },
      before,
      limit,
    };
    const page = await this.#lists.run(() => this.#deps.views.list(query));
    const messages = page.messages.filter(({ id }) => after === undefined || id > after);
    // What comes next is older still.
    return messages.length === page.messages.length ? page : { messages, next: null };
  }

  /**
   * The newest records of a search, `most` at most: from as many pages as it takes, until `signal` aborts. What comes in
   * meanwhile may not be among them. Rejects as {@link page} does.
   */
  async newest(search: CapturedSearch, most: number, signal: AbortSignal): Promise<MessageRecord[]> {
    const found: MessageRecord[] = [];
    let before: string | null = null;
    do {
      const limit = Math.min(most - found.length, this.#atOnce);
      const page: ListPage = await this.matching({ ...search, before, limit });
      found.push(...page.messages);
      before = page.next;
    } while (before !== null && found.length < most && !signal.aborted);
    return found;
  }

  /**
   * The message of an id, also as a UUID, if it is of the key and the box; for `latest`, the newest of the search, for
   * which it looks until `signal` aborts. Throws the problem 404.
   */
  async find(which: string, search: CapturedSearch, signal: AbortSignal): Promise<MessageRecord> {
    const [newest = null] = which === 'latest' ? await this.newest(search, 1, signal) : [];
    const message = newest ?? (await this.byId(which, search));
    if (message === null) throw messageNotFound();
    return message;
  }

  /** The message of an id, also as a UUID, if it is of the key and the box; otherwise null. */
  async byId(which: string, { keyId, filter }: CapturedSearch): Promise<MessageRecord | null> {
    const id = readMessageId(which);
    const detail = id === null ? null : await this.#deps.views.message(id);
    return detail !== null && isCapturedOf(detail.message, keyId, filter.box) ? detail.message : null;
  }

  /** Removes messages, whose records stay. Returns their number. */
  async remove(ids: readonly string[]): Promise<number> {
    this.#deps.words.forget(ids);
    return ids.length === 0 ? 0 : await this.#deps.acts.discard(ids);
  }

  /**
   * Removes every message of a search, page by page, until `signal` aborts; what comes in meanwhile stays. Returns their
   * number.
   */
  async removeAll(search: CapturedSearch, signal: AbortSignal): Promise<number> {
    let removed = 0;
    let before: string | null = null;
    do {
      const page: ListPage = await this.matching({ ...search, before, limit: this.#atOnce });
      removed += await this.remove(page.messages.map(({ id }) => id));
      before = page.next;
    } while (before !== null && !signal.aborted);
    return removed;
  }
}

/** The refusal to say whether a message is one that is looked for. */
function doubtful({ id }: MessageRecord): Problem {
  const detail = `The message ${id} cannot be read, so nobody can tell whether it is among those asked for.`;
  return new Problem(409, 'unreadable_content', detail);
}

function isCapturedOf(message: MessageRecord, keyId: string, box: string | null): boolean {
  const isKept = isInInbox(message) && message.finalAt !== null && message.content !== null;
  return isKept && message.keyId === keyId && (box === null || message.box === box);
}

/** Whether a filter asks for more than records say. */
function needsWords({ text, hasAttachment }: CapturedFilter): boolean {
  return hasAttachment || text.length > 0;
}

function gistTest({ text, hasAttachment }: CapturedFilter): (gist: Gist) => boolean {
  return ({ searched, attachments }) =>
    (!hasAttachment || attachments > 0) && text.every((word) => searched.includes(word));
}
