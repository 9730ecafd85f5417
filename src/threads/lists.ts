import type { Clock } from '../lib/clock.ts';
import { type ListSlice, Paging, type SliceRequest } from '../store/sqlite/paging.ts';
import type { FoundSlice } from '../store/sqlite/slices.ts';
import { StoreError } from '../store/store.ts';
import { askerOf, type FoundPage, type ListPage, type ListQuery, type SearchQuery } from '../store/views.ts';

/** Most lists under way, of one asker and in total; further ones are refused with `store_busy`. */
export interface ListsLimits {
  readonly maxLists: number;
  readonly maxListsPerAsker: number;
}

/** A list takes at most a tenth of a second of the thread's time, and holds one page. */
const LIMITS: ListsLimits = { maxLists: 256, maxListsPerAsker: 64 };

/**
 * A search that has used the thread for this long starts no further slice: with the last one, it stays under a tenth of
 * a second.
 */
const MAX_SEARCH_MS = 70;

/** Searches count as operators'. */
const OPERATORS = '';

/**
 * Assembles pages from slices, one of which is in the thread at a time: a long list makes others wait for one slice,
 * and lists of the same asker for a turn.
 */
export class Lists {
  readonly #slice: (request: SliceRequest) => Promise<ListSlice>;
  readonly #searchSlice: (request: SliceRequest<SearchQuery>) => Promise<FoundSlice>;
  readonly #clock: Pick<Clock, 'mono'>;
  readonly #limits: ListsLimits;
  readonly #turns = new Turns();
  readonly #underWay = new Map<string, number>();
  #count = 0;

  constructor(
    slice: (request: SliceRequest) => Promise<ListSlice>,
    searchSlice: (request: SliceRequest<SearchQuery>) => Promise<FoundSlice>,
    clock: Pick<Clock, 'mono'>,
    limits = LIMITS,
  ) {
    this.#clock = clock;
    this.#slice = slice;
    this.#searchSlice = searchSlice;
    this.#limits = limits;
  }

  /** A page, as `Views.list` promises. Rejects with `StoreError`. */
  async list(query: ListQuery): Promise<ListPage> {
    return await this.#page(askerOf(query), new Paging(query), this.#slice);
  }

  /** A page, as `Views.search` promises. Rejects with `StoreError`. */
  async search(query: SearchQuery): Promise<FoundPage> {
    let behind = 0;
    let tookMs = 0;
    const paging = new Paging(query);
    const page = await this.#page(
      OPERATORS,
      paging,
      async (request) => {
        const start = this.#clock.mono();
        const slice = await this.#searchSlice(request);
        behind = slice.behind;
        tookMs += this.#clock.mono() - start;
        return slice;
      },
      () => tookMs >= MAX_SEARCH_MS,
    );
    return { ...page, behind };
  }

  async #page<Query extends ListQuery | SearchQuery>(
    asker: string,
    paging: Paging<Query>,
    slice: (request: SliceRequest<Query>) => Promise<ListSlice>,
    isLate = () => false,
  ): Promise<ListPage> {
    this.#enter(asker);
    try {
      while (paging.page === null) {
        paging.add(await this.#turns.run(asker, () => slice(paging.rest)));
        if (isLate()) paging.end();
      }
      return paging.page;
    } finally {
      this.#leave(asker);
    }
  }

  #enter(asker: string): void {
    const own = this.#underWay.get(asker) ?? 0;
    if (this.#count >= this.#limits.maxLists || own >= this.#limits.maxListsPerAsker)
      throw new StoreError('store_busy', 'too many lists are under way');
    this.#underWay.set(asker, own + 1);
    this.#count++;
  }

  #leave(asker: string): void {
    const own = this.#underWay.get(asker) ?? 0;
    if (own > 1) this.#underWay.set(asker, own - 1);
    else this.#underWay.delete(asker);
    this.#count--;
  }
}

/**
 * Runs one job at a time, in turns that are fair by owner: an owner with many jobs waits for its own turns, and does
 * not delay the others. Jobs of one owner run in order of arrival.
 */
export class Turns {
  /** The waiting jobs by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #taken = false;

  /** Runs the job when its turn comes; settles as the job does. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#taken) await this.#wait(owner);
    this.#taken = true;
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #wait(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(owner);
      if (queue === undefined) this.#waiting.set(owner, [resolve]);
      else queue.push(resolve);
    });
  }

  /** Passes the turn on without freeing it, so that nobody cuts in. */
  #pass(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#taken = false;
      return;
    }
    const [owner, queue] = first;
    this.#waiting.delete(owner);
    const next = queue.shift();
    if (queue.length > 0) this.#waiting.set(owner, queue);
    next?.();
  }
}
