import { type ListSlice, Paging, type SliceRequest } from '../store/sqlite/paging.ts';
import { StoreError } from '../store/store.ts';
import type { ListPage, ListQuery } from '../store/views.ts';
import { Turns } from './turns.ts';

/** How many lists may be under way; of one owner, and in all. Beyond, they are refused with `store_busy`. */
export interface ListsLimits {
  readonly maxLists: number;
  readonly maxListsPerOwner: number;
}

/** A list is under way for a tenth of a second of the thread's time at the very most, and holds one page. */
const LIMITS: ListsLimits = { maxLists: 256, maxListsPerOwner: 64 };

/** Every list over all keys counts as one owner's. */
const ALL = '';

/**
 * Makes pages of slices, of which one at a time is in the thread: a list that looks at everything makes others
 * wait for one slice, and lists of one owner, for a turn.
 */
export class Lists {
  readonly #slice: (request: SliceRequest) => Promise<ListSlice>;
  readonly #limits: ListsLimits;
  readonly #turns = new Turns();
  readonly #underWay = new Map<string, number>();
  #count = 0;

  constructor(slice: (request: SliceRequest) => Promise<ListSlice>, limits = LIMITS) {
    this.#slice = slice;
    this.#limits = limits;
  }

  /** A page, as `Views.list` promises it. Rejects with `StoreError`. */
  async list(query: ListQuery): Promise<ListPage> {
    const owner = query.owner === 'all' ? ALL : query.owner.keyId;
    this.#enter(owner);
    try {
      const paging = new Paging(query);
      while (paging.page === null) paging.add(await this.#turns.run(owner, () => this.#slice(paging.rest)));
      return paging.page;
    } finally {
      this.#leave(owner);
    }
  }

  #enter(owner: string): void {
    const own = this.#underWay.get(owner) ?? 0;
    if (this.#count >= this.#limits.maxLists || own >= this.#limits.maxListsPerOwner)
      throw new StoreError('store_busy', 'too many lists are asked for at once');
    this.#underWay.set(owner, own + 1);
    this.#count++;
  }

  #leave(owner: string): void {
    const own = this.#underWay.get(owner) ?? 0;
    if (own > 1) this.#underWay.set(owner, own - 1);
    else this.#underWay.delete(owner);
    this.#count--;
  }
}
