import { isPseudonym, type Pseudonymous } from '../../domain/erasing.ts';
import type { Recipient } from '../../domain/message.ts';
import { suppressedOf, suppressionKeys } from '../../domain/suppressed-address.ts';
import { Pseudonyms } from '../../lib/pseudonym.ts';
import type { Store } from '../store.ts';
import type { SuppressedAddress, SuppressionList } from '../suppressions.ts';
import type { OwnBounces, ToldResult } from '../telling.ts';
import type { HotDelivery } from './hot.ts';

/** Tells the addresses of all entries. */
type ListedAddresses = Pick<SuppressionList, 'suppressedAddresses'>;

/**
 * Says for nearly all recipients that no entry of the suppression list can be about them, without asking the database:
 * a Bloom filter over the addresses of all entries. What is removed from the list stays in it until the next start,
 * and costs a look into the list.
 */
export class SuppressionFilter {
  /** Null until something is entered. */
  #bits: Uint32Array | null = null;
  readonly #list: ListedAddresses | null;
  #isLoaded = false;
  #loads = 0;
  /** Loads that are under way. */
  #loading = 0;
  #hasPatterns = false;
  /** Entries of people who were erased stand under their pseudonyms. */
  #hasErased = false;
  readonly #pseudonyms: Pseudonymous;
  #changes = 0;

  /** Rises with each entry; what was found to be clear is clear while it stands. */
  get changes(): number {
    return this.#changes;
  }

  /** `list`: all that was added before this process began; absent: nothing was. */
  constructor(list?: ListedAddresses, pseudonyms: Pseudonymous = new Pseudonyms()) {
    this.#list = list ?? null;
    this.#pseudonyms = pseudonyms;
    void this.load();
  }

  /**
   * Enters all entries of the list: those from before, and those that were added by a call whose answer was lost. Until
   * that is done, and if it cannot be, nobody is known to be clear.
   */
  async load(): Promise<void> {
    const list = this.#list;
    this.#isLoaded = list === null;
    if (list === null) return;
    this.#loads++;
    const load = this.#loads;
    this.#loading++;
    let after: string | null = '';
    try {
      while (after !== null) {
        const page: SuppressedAddress[] = await list.suppressedAddresses(after, PAGE);
        for (const { address } of page) this.add(address);
        after = page.length < PAGE ? null : (page.at(-1)?.id ?? null);
      }
    } catch {
      return;
    } finally {
      this.#loading--;
    }
    // A later one began after something that this one may have missed.
    if (load === this.#loads) this.#isLoaded = true;
  }

  /** Own bounces that may add entries of their addresses. */
  mayAdd(own: OwnBounces | undefined): void {
    for (const { address } of own?.bounces ?? []) this.add(suppressedOf(address).address);
  }

  /** Whether no entry stops any of these recipients. */
  isClear(recipients: readonly Pick<Recipient, 'address'>[]): boolean {
    return !recipients.some(({ address }) => this.mayStop(address));
  }

  /** Whether no entry that was added since they were leased stops any of these deliveries. */
  areStillClear(deliveries: readonly Pick<HotDelivery, 'address' | 'clearAt'>[]): boolean {
    return deliveries.every(({ address, clearAt }) => clearAt === this.#changes || !this.mayStop(address));
  }

  /** Enters the address of an entry, in its normal form, before it is added to the list. */
  add(address: string): void {
    this.#changes++;
    this.#hasPatterns ||= address.startsWith('*@');
    this.#hasErased ||= isPseudonym(address);
    this.#bits ??= new Uint32Array(BITS / 32);
    const [first, second] = hashesOf(address);
    for (let round = 0; round < ROUNDS; round++) {
      const bit = (first + Math.imul(round, second)) & (BITS - 1);
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  /** Whether an entry may stop a recipient. */
  mayStop(recipient: string): boolean {
    if (!this.#isReady()) return true;
    if (this.#changes === 0) return false;
    if (this.#hasErased && this.#mayBeErased(suppressedOf(recipient).address)) return true;
    if (!this.#hasPatterns) return this.#mayHave(suppressedOf(recipient).address);
    return suppressionKeys(recipient).some((key) => this.#mayHave(key));
  }

  /** Whether the list may have an entry under this normal form. */
  mayList(address: string): boolean {
    if (!this.#isReady()) return true;
    return this.#changes > 0 && (this.#mayHave(address) || (this.#hasErased && this.#mayBeErased(address)));
  }

  /** Without the key, anybody may be. */
  #mayBeErased(address: string): boolean {
    const pseudonym = this.#pseudonyms.of(address);
    return pseudonym === null || this.#mayHave(pseudonym);
  }

  #isReady(): boolean {
    // The last load failed: without another, all mail would be looked up until the next start.
    if (!this.#isLoaded && this.#loading === 0) void this.load();
    return this.#isLoaded;
  }

  #mayHave(address: string): boolean {
    const [first, second] = hashesOf(address);
    for (let round = 0; round < ROUNDS; round++) {
      const bit = (first + Math.imul(round, second)) & (BITS - 1);
      if (((this.#bits?.[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}

/** Entries that are read at once. */
const PAGE = 10_000;

/** 16 MiB: of 5,000,000 entries, one recipient in 2,000 is looked up in vain. */
const BITS = 2 ** 27;
const ROUNDS = 4;

/** Two hashes (FNV-1a, with two offsets); the second is odd, so that its multiples meet all bits. */
function hashesOf(text: string): readonly [first: number, second: number] {
  let first = 0x811c9dc5;
  let second = 0x01000193;
  for (let place = 0; place < text.length; place++) {
    const unit = text.charCodeAt(place);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x85ebca6b);
  }
  return [mixed(first), mixed(second) | 1];
}

/** Spreads what FNV leaves in the high bits. */
function mixed(hash: number): number {
  let spread = hash ^ (hash >>> 16);
  spread = Math.imul(spread, 0x7feb352d);
  spread ^= spread >>> 15;
  return Math.imul(spread, 0x846ca68b) ^ (spread >>> 16);
}

/**
 * Verbs that may add entries for addresses that only the database knows, of a store whose calls go through `there`.
 * `logged` resolves when what is being written to the log is.
 */
export function tellingsBehind(
  store: Store,
  filter: SuppressionFilter,
  there: <T>(verb: () => Promise<T>) => Promise<T>,
  logged: () => Promise<void>,
): Pick<Store, 'tell' | 'retell'> {
  const sure = async <T>(verb: () => Promise<T>): Promise<T> => {
    try {
      return await there(verb);
    } catch (error) {
      // It may have added entries all the same.
      void filter.load();
      throw error;
    }
  };
  // What was accepted before an entry was in the filter is answered before anybody hears of the entry: it came first.
  const enter = async (results: readonly ToldResult[]) => {
    const entries = results.flatMap(({ entry }) => entry ?? []);
    for (const { address } of entries) filter.add(address);
    if (entries.length > 0) await logged();
  };
  return {
    tell: async (batch, rules, at) => {
      const answers = await sure(() => store.tell(batch, rules, at));
      await enter(answers.flatMap(({ results }) => results));
      return answers;
    },
    retell: async (after, limit, rules, at) => {
      const answer = await sure(() => store.retell(after, limit, rules, at));
      await enter(answer.results);
      return answer;
    },
  };
}
