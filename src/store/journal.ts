/**
 * The audit journal: entries are written once, never changed, and removed by age and number. Errors are `StoreError`.
 */
export interface Journal {
  /** Writes entries, in order, in one transaction, and removes those beyond {@link MAX_JOURNAL_ENTRIES}. */
  record(entries: readonly NewJournalEntry[]): Promise<void>;
  /** A page, newest first. Examines at most {@link MAX_JOURNAL_EXAMINED} entries. */
  entries(query: JournalQuery): Promise<JournalPage>;
  /** Removes entries from before `before` (wall ms), the oldest first, at most `limit`. Returns how many. */
  forgetEntries(before: number, limit: number): Promise<number>;
}

/** An action to record. */
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
  /** JSON, without secrets; null if there is nothing to say. */
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
  /** Text that the subject contains, case-insensitive. */
  readonly subject: string | null;
  readonly limit: number;
  /** Only numbers below this one. */
  readonly before: number | null;
}

/** A page, and where the next one starts. It may be short, or empty, if few entries match. */
export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  readonly next: number | null;
}

/** Most characters kept of `before` or `after`; a longer text is replaced by a note. */
export const MAX_JOURNAL_TEXT = 16 * 1024;
/** Most entries kept; the oldest go first. */
export const MAX_JOURNAL_ENTRIES = 100_000;
/** Most entries examined for a page. */
export const MAX_JOURNAL_EXAMINED = 2000;

/** The fields that decide whether an entry belongs on a page. */
type Brief = Pick<JournalEntry, 'number' | 'actor' | 'action' | 'subject'>;

/**
 * The numbers of a page's entries, out of the next {@link MAX_JOURNAL_EXAMINED} ones, newest first; for every database.
 */
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

/**
 * The number up to which the oldest entries are from before a time; null if none is. Entries written after a clock was
 * set back are kept as long as those before it.
 */
export function oldOnes(
  oldest: readonly Pick<JournalEntry, 'number' | 'at'>[],
  before: number,
): number | null {
  const young = oldest.findIndex(({ at }) => at >= before);
  return (young < 0 ? oldest.at(-1) : oldest[young - 1])?.number ?? null;
}
