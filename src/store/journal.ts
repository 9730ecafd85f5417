/** Who did what: written once, never changed, forgotten by age and number. Errors are `StoreError`. */
export interface Journal {
  /** Writes entries, in order, in one transaction, and forgets those beyond {@link MAX_JOURNAL_ENTRIES}. */
  record(entries: readonly NewJournalEntry[]): Promise<void>;
  /** A page, newest first. Looks at {@link MAX_JOURNAL_EXAMINED} entries at most. */
  entries(query: JournalQuery): Promise<JournalPage>;
  /** Forgets entries from before `before` (wall ms), the oldest first, at most `limit`. Gives how many. */
  forgetEntries(before: number, limit: number): Promise<number>;
}

/** Something that was done. */
export interface NewJournalEntry {
  /** Wall ms. */
  readonly at: number;
  readonly actorKind: 'user' | 'key' | 'command' | 'service';
  /** A user's or key's name; empty for the command line and the service itself. */
  readonly actor: string;
  readonly sourceAddress: string | null;
  /** An operation's name; `signIn`, `signInFailed`, `signOut`, `setUp`; `retention`, `compaction`. */
  readonly action: string;
  readonly subject: string;
  /** JSON, without secrets; null where it says nothing. */
  readonly before: string | null;
  readonly after: string | null;
}

/** An entry as it is stored. */
export interface JournalEntry extends NewJournalEntry {
  /** Rises with every entry. */
  readonly number: number;
}

/** Which entries a page shows; each condition that is not null must hold. */
export interface JournalQuery {
  readonly actor: string | null;
  readonly action: string | null;
  /** Text that the subject contains, whatever its letter case. */
  readonly subject: string | null;
  readonly limit: number;
  /** Only numbers below this one. */
  readonly before: number | null;
}

/** A page, and where the next one starts. A page whose conditions few entries meet may be short, or empty. */
export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  readonly next: number | null;
}

/** Characters of `before` or `after` that are kept; longer ones are replaced by a note. */
export const MAX_JOURNAL_TEXT = 16 * 1024;
/** Entries kept; the oldest go first. */
export const MAX_JOURNAL_ENTRIES = 100_000;
/** Entries looked at for a page. */
export const MAX_JOURNAL_EXAMINED = 2000;

/** What is looked at of an entry to tell whether it belongs on a page. */
type Brief = Pick<JournalEntry, 'number' | 'actor' | 'action' | 'subject'>;

/** The numbers of the entries of a page, of the next {@link MAX_JOURNAL_EXAMINED} ones, newest first; whatever the database. */
export function pageOf(
  briefs: readonly Brief[],
  query: JournalQuery,
): { readonly numbers: number[]; readonly next: number | null } {
  const part = query.subject?.toLowerCase() ?? null;
  const numbers: number[] = [];
  for (const [place, { number, actor, action, subject }] of briefs.entries()) {
    if (query.actor !== null && actor !== query.actor) continue;
    if (query.action !== null && action !== query.action) continue;
    if (part !== null && !subject.toLowerCase().includes(part)) continue;
    numbers.push(number);
    const isLast = place === briefs.length - 1 && briefs.length < MAX_JOURNAL_EXAMINED;
    if (numbers.length === query.limit) return { numbers, next: isLast ? null : number };
  }
  const last = briefs.at(-1);
  return { numbers, next: last === undefined || briefs.length < MAX_JOURNAL_EXAMINED ? null : last.number };
}

/** Up to which number the oldest entries are from before a time; null where none is. A clock that was set back keeps those behind. */
export function oldOnes(
  oldest: readonly Pick<JournalEntry, 'number' | 'at'>[],
  before: number,
): number | null {
  const young = oldest.findIndex(({ at }) => at >= before);
  return (young < 0 ? oldest.at(-1) : oldest[young - 1])?.number ?? null;
}
