import {
  hasEnded,
  type Suppression,
  type SuppressionReason,
  type SuppressionScope,
} from '../domain/suppression.ts';

/**
 * The suppression list (contract-2 §A5). Every verb is one transaction; times are wall ms, and `now` is an argument.
 * Errors are `StoreError`. What stops a message is decided in `domain/suppression.ts`, from the entries under the
 * recipient's `suppressionKeys`.
 */
export interface SuppressionList {
  /** A page, newest first. Examines at most {@link MAX_SUPPRESSIONS_EXAMINED} entries. */
  suppressions(query: SuppressionQuery): Promise<SuppressionPage>;
  /** One entry, even if it has ended; null: no such entry. */
  suppression(id: string): Promise<Suppression | null>;
  /** The entries under any of these normal forms, of all scopes and streams, even those that have ended. */
  suppressionsUnder(addresses: readonly string[]): Promise<Suppression[]>;
  /**
   * Adds entries, at most {@link MAX_ADDITIONS}, or renews those of the same address, scope and stream (`merged`).
   * Returns what became of each, in their order.
   */
  addSuppressions(entries: readonly Suppression[], rules: AdditionRules): Promise<Addition[]>;
  /**
   * Removes entries by their ids, those because of a complaint only with `complaints`. Returns the removed ones as they
   * were.
   */
  removeSuppressions(ids: readonly string[], complaints: boolean, now: number): Promise<Suppression[]>;
  /** The addresses of all entries, by their ids, from above one (''): a page of at most `limit`. */
  suppressedAddresses(after: string, limit: number): Promise<SuppressedAddress[]>;
  /** Removes entries that have ended at `now`, at most `limit`. Returns how many. */
  forgetSuppressions(now: number, limit: number): Promise<number>;
}

/** Which entries a page shows; each condition that is not null must hold, and none has ended. */
export interface SuppressionQuery {
  /** The normal form. */
  readonly address: string | null;
  /** The domain that the address is of, see `domainOfSuppressed`. */
  readonly domain: string | null;
  readonly reason: SuppressionReason | null;
  /** Any of these. */
  readonly scopes: readonly SuppressionScope[] | null;
  /** In the form of `streamKey`. */
  readonly stream: string | null;
  /** Made at or after the first, and before the second wall time in ms. */
  readonly since: number | null;
  readonly until: number | null;
  readonly limit: number;
  /** Only ids below this one. With `until` it can leave out what is much newer, at no cost. */
  readonly before: string | null;
  readonly now: number;
}

/** A page, and the `before` of the next one. It may be short, or empty, if few entries match. */
export interface SuppressionPage {
  readonly entries: readonly Suppression[];
  /** Null: there is nothing further. */
  readonly next: string | null;
}

/** How entries are added. */
export interface AdditionRules {
  /** Most entries of the list (`limits.max_suppressions`). */
  readonly max: number;
  /**
   * For entries by hand, a full list takes no more. One that comes by itself pushes out the entry that ends first; where
   * none ever ends, it is added only if the recipient wants it (a complaint, or an unsubscription).
   */
  readonly by: 'hand' | 'itself';
  readonly now: number;
}

/** What became of an entry that was to be added. */
export type Addition =
  | {
      readonly kind: 'added';
      /** The entry as it stands now, with the id that it has. */
      readonly entry: Suppression;
      /** There was none before, or only one that had ended. */
      readonly isNew: boolean;
    }
  /** Not added: the list has as many entries as it may. */
  | { readonly kind: 'full' }
  /** Not added: the address has {@link MAX_OF_ADDRESS} entries. Only by hand. */
  | { readonly kind: 'crowded' };

/** See {@link SuppressionList.suppressedAddresses}. */
export interface SuppressedAddress {
  readonly id: string;
  readonly address: string;
}

/** Most entries in one transaction. */
export const MAX_ADDITIONS = 1000;
/** Most entries examined for a page. */
export const MAX_SUPPRESSIONS_EXAMINED = 2000;
/** Ids lie in the order of `createdAt` except for this much: an id never goes back with the clock. */
export const ID_SLACK_MS = 3_600_000;
/** Most entries by hand for one address: all of them are read whenever mail goes to it. */
export const MAX_OF_ADDRESS = 500;

/** Makes a page of what was examined, newest first; `isAll`: there is nothing further. */
export function suppressionPage(
  examined: readonly Suppression[],
  query: SuppressionQuery,
  isAll: boolean,
): SuppressionPage {
  const entries: Suppression[] = [];
  for (const [place, entry] of examined.entries()) {
    if (query.since !== null && entry.createdAt < query.since - ID_SLACK_MS) return { entries, next: null };
    if (!isWanted(entry, query)) continue;
    entries.push(entry);
    const isLast = isAll && place === examined.length - 1;
    if (entries.length === query.limit) return { entries, next: isLast ? null : entry.id };
  }
  return { entries, next: isAll ? null : (examined.at(-1)?.id ?? null) };
}

/** Whether every entry meets the query's conditions that {@link suppressionPage} looks at, apart from its end. */
export function isUnconditional({ address, domain, reason, scopes, stream, since, until }: SuppressionQuery) {
  return [address, domain, reason, scopes, stream, since, until].every((condition) => condition === null);
}

function isWanted(entry: Suppression, query: SuppressionQuery): boolean {
  const { reason, scope, stream, createdAt } = entry;
  if (hasEnded(entry, query.now)) return false;
  if (query.reason !== null && reason !== query.reason) return false;
  if (query.scopes !== null && !query.scopes.includes(scope)) return false;
  if (query.stream !== null && stream !== query.stream) return false;
  return (
    (query.since === null || createdAt >= query.since) && (query.until === null || createdAt < query.until)
  );
}
