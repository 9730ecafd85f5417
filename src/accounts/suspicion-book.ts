/** What somebody did who may be a stranger. */
export interface Suspicion {
  readonly action: 'signInFailed' | 'secondFactorAsked';
  /** What was guessed. */
  readonly guess: string;
  /** A user there is; null for a name that nobody has, or where several are taken together. */
  readonly user: string | null;
  /** Null where several are taken together. */
  readonly source: string | null;
  /** How often, since the last one of the kind. */
  readonly tries: number;
}

/** One of a kind is noted at most so often; what comes meanwhile is counted. */
const PERIOD_MS = 10 * 60_000;
/** Users and sources that are noted apart at a time. Beyond them, and for names that nobody has, all are one. */
const MAX_APART = 30;

interface Page {
  suspicion: Suspicion;
  notedAt: number;
}

/**
 * Notes what strangers do so that they cannot fill the activity with it, however many names and sources they have: a user and
 * source at most once a period, with a count, and all that does not fit together. Time is an argument, monotonic ms.
 */
export class SuspicionBook {
  readonly #note: (suspicion: Suspicion) => Promise<void>;
  /** Bounded: `MAX_APART`, and one for each kind of those taken together. */
  readonly #pages = new Map<string, Page>();

  /** `note` must not reject. */
  constructor(note: (suspicion: Suspicion) => Promise<void>) {
    this.#note = note;
  }

  /** Notes or counts one. */
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

  /** Notes what was counted and whose period is over, or (`all`) everything. To be called now and then. */
  async settle(now: number, all = false): Promise<void> {
    for (const [key, page] of [...this.#pages])
      if (all || now - page.notedAt >= PERIOD_MS) await this.#turn(key, page, now);
  }

  /** Notes what was counted, and begins another period; a quiet one is forgotten. */
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
