import { sourceGroup } from '../lib/network.ts';
import { NewestMap } from '../lib/newest-map.ts';

/**
 * Slows guessing down. It counts a source's failures at one account, and at all accounts: each has some free, then must
 * wait longer and longer. Others' failures never lock anybody out: an account under attack from many sources only
 * leaves each of them fewer free tries. Time is an argument, monotonic milliseconds; the tables are bounded, and the
 * longest quiet entry makes room.
 */

export type Guess = 'password' | 'code' | 'recovery' | 'passkey' | 'provider' | 'story';

/** Tries of a source at an account before it must wait. */
const FREE_TRIES = 5;
/** The same for an account that fails often, from any source. */
const FREE_UNDER_ATTACK = 1;
/** Failures of an account, without an hour's pause between, that count as an attack. */
const ATTACK = 50;
/** Tries of a source at any accounts before it must wait: an office may have one address. */
const FREE_OF_SOURCE = 30;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15 * 60_000;
/** The longest wait of a source for its first try at another account. */
const LONGEST_SOURCE_WAIT_MS = 60_000;
/**
 * Someone with the password could guess six digits from many sources together: so tries an hour are limited over all
 * sources. A recovery code is not counted, so that the owner always has a way in.
 */
const CODES_PER_HOUR = 100;
const HOUR_MS = 3_600_000;
const MAX_ENTRIES = 20_000;

/** One try, as counted by `begin`. */
export interface Try {
  readonly guess: Guess;
  readonly account: string;
  readonly source: string;
}

/** The answer to a request to try. */
export type TryAnswer =
  /** The try is allowed, and counts as failed until `succeeded`. `tries`: this source's tries at this account. */
  | { readonly ok: true; readonly tries: number; readonly attempt: Try }
  | { readonly ok: false; readonly waitMs: number };

/** Counts failed tries. */
export class Throttle {
  readonly #pairs: Failures;
  readonly #sources: Failures;
  readonly #accounts: Failures;

  /** `maxEntries`: for each of the three tables. */
  constructor(maxEntries = MAX_ENTRIES) {
    this.#pairs = new Failures(maxEntries);
    this.#sources = new Failures(maxEntries);
    this.#accounts = new Failures(maxEntries);
  }

  /** Whether a source may try now. A try that must wait is not counted: waiting helps. */
  begin(guess: Guess, account: string, address: string, now: number): TryAnswer {
    const attempt = { guess, account, source: sourceGroup(address) };
    const [pair, all] = [pairKey(attempt), accountKey(attempt)];
    const underAttack = this.#accounts.count(all, now) >= ATTACK;
    const waitMs = Math.max(
      this.#pairs.waitMs(pair, underAttack ? FREE_UNDER_ATTACK : FREE_TRIES, LONGEST_WAIT_MS, now),
      this.#sources.waitMs(attempt.source, FREE_OF_SOURCE, LONGEST_SOURCE_WAIT_MS, now),
      guess === 'code' ? this.#accounts.waitForHour(all, CODES_PER_HOUR, now) : 0,
    );
    if (waitMs > 0) return { ok: false, waitMs };
    this.#sources.add(attempt.source, now);
    this.#accounts.add(all, now);
    return { ok: true, tries: this.#pairs.add(pair, now), attempt };
  }

  /** It was right: forgets this source's earlier failures at this account. */
  succeeded(attempt: Try): void {
    this.#pairs.forget(pairKey(attempt));
    this.takeBack(attempt, false);
  }

  /** Someone gave password and code: forgets the passwords, which counted until then. */
  wentThrough(account: string, address: string, now: number): void {
    const attempt: Try = { guess: 'password', account, source: sourceGroup(address) };
    if (this.#pairs.count(pairKey(attempt), now) > 0) this.succeeded(attempt);
  }

  /** Forgets all failures with earlier passwords at an account, from any source. */
  pardon(account: string): void {
    this.#accounts.forget(accountKey({ guess: 'password', account }));
    this.#pairs.forgetEnding(` ${account}`);
  }

  /** It was not tried after all. */
  takeBack(attempt: Try, pair = true): void {
    if (pair) this.#pairs.subtract(pairKey(attempt));
    this.#sources.subtract(attempt.source);
    this.#accounts.subtract(accountKey(attempt));
  }
}

function pairKey({ guess, account, source }: Try): string {
  return `${guess} ${source} ${account}`;
}

function accountKey({ guess, account }: Omit<Try, 'source'>): string {
  return `${guess} ${account}`;
}

interface Entry {
  count: number;
  lastAt: number;
  /** When the hour counted by `inHour` began. */
  hourAt: number;
  inHour: number;
}

/** Failures by name, forgotten after an hour without one. */
class Failures {
  /** By name; the oldest failure makes room. */
  readonly #entries: NewestMap<string, Entry>;

  constructor(maxEntries: number) {
    this.#entries = new NewestMap(maxEntries);
  }

  count(key: string, now: number): number {
    return this.#entryOf(key, now)?.count ?? 0;
  }

  /** Ms until the next try: none while `free` are left, then doubling from the last failure on. */
  waitMs(key: string, free: number, longest: number, now: number): number {
    const entry = this.#entryOf(key, now);
    if (entry === null || entry.count < free) return 0;
    const pause = Math.min(longest, FIRST_WAIT_MS * 2 ** Math.min(entry.count - free, 30));
    return Math.max(0, entry.lastAt + pause - now);
  }

  /** Ms until the hour has fewer than `limit`. */
  waitForHour(key: string, limit: number, now: number): number {
    const entry = this.#entryOf(key, now);
    if (entry === null || entry.inHour < limit) return 0;
    return Math.max(0, entry.hourAt + HOUR_MS - now);
  }

  /** Counts one more; returns the number. */
  add(key: string, now: number): number {
    const entry = this.#entryOf(key, now) ?? { count: 0, lastAt: now, hourAt: now, inHour: 0 };
    if (now - entry.hourAt >= HOUR_MS) Object.assign(entry, { hourAt: now, inHour: 0 });
    entry.count++;
    entry.inHour++;
    entry.lastAt = now;
    this.#entries.set(key, entry);
    return entry.count;
  }

  subtract(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.count--;
    entry.inHour--;
    if (entry.count <= 0) this.#entries.delete(key);
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** Visits every entry, which is fine for rare acts of an administrator. */
  forgetEnding(ending: string): void {
    for (const key of this.#entries.keys()) if (key.endsWith(ending)) this.#entries.delete(key);
  }

  #entryOf(key: string, now: number): Entry | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (now - entry.lastAt < HOUR_MS) return entry;
    this.#entries.delete(key);
    return null;
  }
}

/** A failed try of a possible stranger. */
export interface Suspicion {
  readonly action: 'signInFailed' | 'secondFactorAsked';
  /** What was guessed. */
  readonly guess: string;
  /** An existing user; null for an unknown name, or several taken together. */
  readonly user: string | null;
  /** Null where several are taken together. */
  readonly source: string | null;
  /** How often, since the last record of the kind. */
  readonly tries: number;
}

/** How often one kind is recorded at most; further ones are counted. */
const PERIOD_MS = 10 * 60_000;
/** Users and sources recorded separately at a time. Others, and unknown names, are recorded together. */
const MAX_APART = 30;

interface Page {
  suspicion: Suspicion;
  notedAt: number;
}

/**
 * Records strangers' tries so that they cannot fill the activity, however many names and sources they have: each user
 * and source at most once a period, with a count, and everything beyond the limit together. Time is an argument,
 * monotonic ms.
 */
export class SuspicionBook {
  readonly #note: (suspicion: Suspicion) => Promise<void>;
  /** Bounded: `MAX_APART`, and one for each kind of those taken together. */
  readonly #pages = new Map<string, Page>();

  /** `note` must not reject. */
  constructor(note: (suspicion: Suspicion) => Promise<void>) {
    this.#note = note;
  }

  /** Records or counts one. */
  async add(what: Omit<Suspicion, 'tries'>, now: number): Promise<void> {
    const key = this.#keyOf(what);
    const page = this.#pages.get(key);
    if (page === undefined) {
      this.#pages.set(key, { suspicion: { ...what, tries: 0 }, notedAt: now });
      return await this.#note({ ...what, tries: 1 });
    }
    page.suspicion = together(page.suspicion, what);
    if (now - page.notedAt >= PERIOD_MS) await this.#turn(key, page, now);
  }

  /** Records the counts whose period is over, or (`all`) every count. Call it now and then. */
  async settle(now: number, all = false): Promise<void> {
    for (const [key, page] of [...this.#pages])
      if (all || now - page.notedAt >= PERIOD_MS) await this.#turn(key, page, now);
  }

  /** Records a count, and begins another period; a quiet one is forgotten. */
  async #turn(key: string, page: Page, now: number): Promise<void> {
    const { suspicion } = page;
    if (suspicion.tries === 0) {
      this.#pages.delete(key);
      return;
    }
    page.suspicion = { ...suspicion, tries: 0 };
    page.notedAt = now;
    await this.#note(suspicion);
  }

  #keyOf({ action, guess, user, source }: Omit<Suspicion, 'tries'>): string {
    if (user === null) return `${action} ${guess} unknown`;
    const own = `${action} ${guess} of ${user} ${source}`;
    const isApart = this.#pages.has(own) || this.#pages.size < MAX_APART;
    return isApart ? own : `${action} ${guess} others`;
  }
}

function together(counted: Suspicion, next: Omit<Suspicion, 'tries'>): Suspicion {
  if (counted.tries === 0) return { ...next, tries: 1 };
  return {
    ...counted,
    user: counted.user === next.user ? counted.user : null,
    source: counted.source === next.source ? counted.source : null,
    tries: counted.tries + 1,
  };
}
