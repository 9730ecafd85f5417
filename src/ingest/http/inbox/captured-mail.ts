import { isInInbox, type MessageRecord } from '../../../domain/message.ts';
import type { Acts } from '../../../engine/contract.ts';
import { Problem } from '../../../http/problem.ts';
import { Few } from '../../../lib/few.ts';
import { readMessageId } from '../../../lib/id.ts';
import type { ListFilter, ListPage, MessageDetail, Views } from '../../../store/views.ts';
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
  tag: null,
  to: null,
  from: null,
  subject: null,
  since: null,
  until: null,
  box: null,
  text: [],
  hasAttachment: false,
};

/** Whose mail, and where a page of it begins. */
export interface CapturedQuery {
  readonly keyId: string;
  readonly filter: CapturedFilter;
  /** Only ids below this one; null starts at the newest. */
  readonly before: string | null;
  readonly limit: number;
  /**
   * Messages that are known not to say what the filter asks for, as whoever asks again and again remembers them: they are
   * not read, and what a page reads in vain is added.
   */
  readonly misfits?: Set<string>;
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
   * A page with what each message says. Rejects as `Views.list` does; throws the problem 503 when a message cannot be
   * read now and the filter asks for what it says.
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
          const gist = await this.#gist(message, query.filter);
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
  async #gist(message: MessageRecord, filter: CapturedFilter): Promise<Gist | null> {
    try {
      return await this.#deps.words.gist(message);
    } catch (error) {
      if (needsWords(filter) || !(error instanceof Problem)) throw error;
      return UNREADABLE;
    }
  }

  /** A page of records, whatever messages say. */
  async #records({ keyId, filter, before, limit }: CapturedQuery): Promise<ListPage> {
    const { text: _, hasAttachment: __, box, ...rest } = filter;
    const query = {
      owner: { keyId },
      statuses: [],
      filter: { ...rest, captured: true as const, ...(box !== null && { box }) },
      before,
      limit,
    };
    return await this.#lists.run(() => this.#deps.views.list(query));
  }

  /** Every record of a filter, in pages, newest first. What comes in meanwhile is not among them. */
  async *all(
    keyId: string,
    filter: CapturedFilter,
    limit = this.#atOnce,
  ): AsyncGenerator<readonly MessageRecord[]> {
    let before: string | null = null;
    do {
      const page: ListPage = await this.matching({ keyId, filter, before, limit });
      yield page.messages;
      before = page.next;
    } while (before !== null);
  }

  /**
   * The message of an id, also as a UUID, if it is of the key and the box; for `latest`, the newest that passes the
   * filter, among as many as a page looks at. Throws the problem 404.
   */
  async find(which: string, keyId: string, filter: CapturedFilter): Promise<MessageDetail> {
    const newest = which === 'latest' ? await this.matching({ keyId, filter, before: null, limit: 1 }) : null;
    const id = newest === null ? readMessageId(which) : (newest.messages[0]?.id ?? null);
    const detail = id === null ? null : await this.#deps.views.message(id);
    if (detail === null || !isCapturedOf(detail.message, keyId, filter.box)) throw messageNotFound();
    return detail;
  }

  /** Removes messages, whose records stay. Returns their number. */
  async remove(ids: readonly string[]): Promise<number> {
    this.#deps.words.forget(ids);
    return ids.length === 0 ? 0 : await this.#deps.acts.discard(ids);
  }

  /**
   * Removes every message of a filter, page by page, until `signal` aborts; what comes in meanwhile stays. Returns their
   * number.
   */
  async removeAll(keyId: string, filter: CapturedFilter, signal: AbortSignal): Promise<number> {
    let removed = 0;
    for await (const messages of this.all(keyId, filter)) {
      removed += await this.remove(messages.map(({ id }) => id));
      if (signal.aborted) break;
    }
    return removed;
  }
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
