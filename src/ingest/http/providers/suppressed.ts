import { parseMailbox } from '../../../domain/mailbox.ts';
import { suppressedOf } from '../../../domain/suppressed-address.ts';
import type { SuppressionReason } from '../../../domain/suppression.ts';
import { type FieldFault, Problem } from '../../../http/problem.ts';
import type { SuppressionView } from '../../../operations/suppressions.ts';
import type { Call } from '../call.ts';
import { refuseFaults } from '../fields.ts';
import { askOfList } from '../suppressions.ts';
import type { ProviderDeps } from './provider.ts';

/**
 * The suppression list, for providers that have a list for each reason. What a key sees and changes is as at
 * `/api/v1/suppressions`.
 */

/** Which entries are read. */
interface Wanted {
  readonly reason: SuppressionReason | null;
  readonly address: string | null;
  /** As it is written; null: of all that the key may see. */
  readonly scope?: string | null;
  readonly since: string | null;
  readonly until: string | null;
  /** Below this id, null: from the newest on. */
  readonly below?: string | null;
  /** Not below this id, null: to the oldest. */
  readonly downTo?: string | null;
}

/** The most entries in a page of ours. */
const PAGE = 200;

/** What a walk through the list has found. */
interface Walked {
  readonly entries: readonly SuppressionView[];
  /** Where there may be more: below this id. Null: there is nothing further. */
  readonly next: string | null;
}

/** The most pages of ours that one walk reads: all in it may be of other kinds. */
const MAX_PAGES = 50;

/**
 * The newest entries of this kind, up to `count`. With a condition, those for which it holds, and fewer where it has
 * read enough.
 */
export async function walkEntries(
  call: Call,
  { below = null, downTo = null, scope = null, ...wanted }: Wanted,
  count: number,
  isWanted: ((entry: SuppressionView) => boolean) | null,
  deps: ProviderDeps,
): Promise<Walked> {
  const found: SuppressionView[] = [];
  let cursor: string | null = below;
  for (let pages = 0; isWanted === null || pages < MAX_PAGES; pages++) {
    const limit = isWanted === null ? Math.min(PAGE, count - found.length) : PAGE;
    const query = { ...wanted, scope, domain: null, stream: null, limit, cursor };
    const page: Awaited<ReturnType<typeof askOfList<'listSuppressions'>>> = await askOfList(
      'listSuppressions',
      call,
      deps,
      query,
    );
    const within = page.suppressions.filter(({ id }) => downTo === null || id >= downTo);
    found.push(...(isWanted === null ? within : within.filter(isWanted)));
    cursor = page.nextCursor ?? null;
    if (downTo !== null && cursor !== null && cursor <= downTo) cursor = null;
    if (cursor === null || found.length >= count) break;
  }
  const entries = found.slice(0, count);
  return { entries, next: found.length > count ? (entries.at(-1)?.id ?? null) : cursor };
}

/** The newest entries of this kind, up to `count`. */
export async function newestEntries(
  call: Call,
  wanted: Wanted,
  count: number,
  deps: ProviderDeps,
): Promise<readonly SuppressionView[]> {
  return (await walkEntries(call, wanted, count, null, deps)).entries;
}

/** The most entries of one address. */
const MAX_OF_ADDRESS = 500;

/** The entries of an address with one of these reasons, the newest first. */
export async function entriesOfAddress(
  call: Call,
  address: string,
  reasons: readonly SuppressionReason[],
  deps: ProviderDeps,
): Promise<SuppressionView[]> {
  const wanted = { reason: null, address, since: null, until: null };
  const found = await newestEntries(call, wanted, MAX_OF_ADDRESS, deps);
  return found.filter(({ reason }) => reasons.includes(reason));
}

/** Removes entries. Naming a list of complaints is the confirmation that those need. Returns how many there were. */
export async function removeEntries(
  call: Call,
  entries: readonly SuppressionView[],
  deps: ProviderDeps,
): Promise<number> {
  let removed = 0;
  for (const { id, reason } of entries) {
    try {
      await askOfList('removeSuppressions', call, deps, { which: id, complaints: reason === 'complaint' });
      removed += 1;
    } catch (error) {
      // What it may see and not change is not there for it.
      if (!(error instanceof Problem) || error.status !== 404) throw error;
    }
  }
  return removed;
}

/** An entry to be added; besides its address, what an import takes (docs/suppressions.md). */
export interface NewEntry {
  readonly address: string;
  readonly [column: string]: string;
}

/** What all of them have. */
export interface Adding {
  readonly reason: SuppressionReason;
  /** Null: the key's own. */
  readonly scope: string | null;
  /** Where the address of one of them is in the body. */
  readonly pointTo: (place: number) => string;
}

/** Adds entries: all, or none where an address is wrong. Returns the addresses as they are listed. Throws a `Problem`. */
export async function addEntries(
  call: Call,
  given: readonly NewEntry[],
  { reason, scope, pointTo }: Adding,
  deps: ProviderDeps,
): Promise<string[]> {
  const fault = (place: number, code: string, detail: string): FieldFault => ({
    pointer: pointTo(place),
    code,
    detail,
  });
  const parsed = given.map(({ address }) => parseMailbox(address));
  refuseFaults(parsed.flatMap((one, place) => (one.ok ? [] : [fault(place, one.code, one.detail)])));
  const rows = given.map((row, place) => {
    const one = parsed[place];
    // Here `*@example.org` is no pattern.
    return { ...row, address: one?.ok === true ? suppressedOf(one.value.address).address : '' };
  });
  await call.checkKey();
  const { invalid } = await askOfList('importSuppressions', call, deps, {
    format: 'json',
    text: JSON.stringify(rows),
    scope,
    stream: null,
    reason,
  });
  refuseFaults(invalid.map(({ line, detail }) => fault(line - 1, 'too_many', detail)));
  return rows.map(({ address }) => address);
}
