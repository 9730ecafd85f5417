import { GUARD_WINDOW_MS, GUARDED_ENTRY_MS, HELD_BACK } from '../../domain/bounce.ts';
import { ERASED_DOMAIN, type Pseudonymous } from '../../domain/erasing.ts';
import { EVENT_TYPES, type EventFacts } from '../../domain/event.ts';
import { domainOfSuppressed, suppressionKeys } from '../../domain/suppressed-address.ts';
import {
  type Asking,
  type Evidence,
  hasEnded,
  merged,
  type Suppression,
  type SuppressionReason,
  type SuppressionScope,
  stoppedBy,
} from '../../domain/suppression.ts';
import { fromJson } from '../columns.ts';
import {
  type Addition,
  type AdditionRules,
  isUnconditional,
  MAX_OF_ADDRESS,
  MAX_SUPPRESSIONS_EXAMINED,
  type SuppressedAddress,
  type SuppressionList,
  type SuppressionQuery,
  suppressionPage,
} from '../suppressions.ts';
import { among, Columns, onPostgres, sql } from './sql.ts';
import { rows, run, type Subject, send, type Work } from './work.ts';

/** Entries of the suppression list as rows, for every verb that reads or changes them. */

interface SuppressionRow {
  readonly id: string;
  readonly address: string;
  readonly domain: string;
  readonly scope: SuppressionScope;
  readonly stream: string;
  readonly reason: SuppressionReason;
  readonly source: string;
  readonly evidence: string | null;
  readonly note: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
}

const ENTRY = new Columns<SuppressionRow>({
  id: sql`id`,
  address: sql`address`,
  domain: sql`domain`,
  scope: sql`scope`,
  stream: sql`stream`,
  reason: sql`reason`,
  source: sql`source`,
  evidence: sql`evidence`,
  note: sql`note`,
  createdAt: sql`created_at`,
  updatedAt: sql`updated_at`,
  expiresAt: sql`expires_at`,
});

function entryOf({ domain: _, ...row }: SuppressionRow): Suppression {
  return {
    ...row,
    stream: row.stream === '' ? null : row.stream,
    evidence: row.evidence === null ? null : fromJson<Evidence>(row.evidence),
  };
}

/** Entries that were looked up, for deciding on recipients without asking again. */
export class FoundEntries {
  readonly #byAddress = new Map<string, Suppression[]>();

  /** Adds what was found. */
  add(entries: readonly Suppression[]): void {
    for (const entry of entries) {
      const others = this.#byAddress.get(entry.address);
      if (others === undefined) this.#byAddress.set(entry.address, [entry]);
      else others.push(entry);
    }
  }

  /** The entry that stops a message to a recipient; null: none of these. */
  stopping(recipient: string, asking: Asking, now: number): Suppression | null {
    if (this.#byAddress.size === 0) return null;
    return stoppedBy(
      suppressionKeys(recipient).flatMap((key) => this.#byAddress.get(key) ?? []),
      asking,
      now,
    );
  }
}

/** The normal forms under which entries for any of these recipients may stand. */
export function keysOf(recipients: readonly string[]): string[] {
  return [...new Set(recipients.flatMap(suppressionKeys))];
}

/**
 * The entries that stand under any of these normal forms (`suppressionKeys`), of all scopes and streams. Those of people
 * who were erased stand under their pseudonyms, which are only looked for if there are any: an entry with one comes
 * along. They are returned under the address that was asked for.
 */
export function* entriesUnder(addresses: readonly string[], pseudonyms: Pseudonymous): Work<Suppression[]> {
  if (addresses.length === 0) return [];
  const found = (yield* rows<SuppressionRow>`SELECT ${ENTRY.selected} FROM suppressions
    WHERE address ${among(addresses)}
      OR id = (SELECT min(id) FROM suppressions WHERE domain = ${ERASED_DOMAIN})`).map(entryOf);
  const asked = new Set(addresses);
  const plain = found.filter(({ address }) => asked.has(address));
  if (plain.length === found.length) return plain;
  const erased = new Map(addresses.map((address) => [pseudonyms.of(address), address]));
  const named = [...erased.keys()].filter((pseudonym) => pseudonym !== null);
  const others = yield* rows<SuppressionRow>`
    SELECT ${ENTRY.selected} FROM suppressions WHERE address ${among(named)}`;
  return [
    ...plain,
    ...others
      .map(entryOf)
      .map((entry) => ({ ...entry, address: erased.get(entry.address) ?? entry.address })),
  ];
}

/** The list; its verbs find nobody who was erased, see {@link suppressionsWith}. */
export const SUPPRESSIONS: Subject<SuppressionList> = {
  reads: {
    suppressions: 'statement',
    suppression: 'statement',
    suppressionsUnder: 'statement',
    suppressedAddresses: 'statement',
  },
  verbs: {
    *suppressions(query) {
      const most = isUnconditional(query) ? query.limit + 1 : MAX_SUPPRESSIONS_EXAMINED;
      const found = query.address === null ? yield* examine(query, most) : yield* ofAddress(query);
      return suppressionPage(found.map(entryOf), query, query.address !== null || found.length < most);
    },
    *suppression(id) {
      const [row] = yield* rows<SuppressionRow>`SELECT ${ENTRY.selected} FROM suppressions WHERE id = ${id}`;
      return row === undefined ? null : entryOf(row);
    },
    suppressionsUnder: (addresses) => entriesUnder(addresses, NO_PSEUDONYMS),
    *addSuppressions(entries, rules) {
      // In one order, so that two writers never wait for each other.
      const places = [...entries.keys()].sort((a, b) => (placeOf(entries[a]) < placeOf(entries[b]) ? -1 : 1));
      const answers: Addition[] = [];
      const size = new Size();
      for (const place of places) {
        const entry = entries[place];
        if (entry !== undefined) answers[place] = yield* putWithin(entry, rules, size);
      }
      yield* size.write();
      return answers;
    },
    *removeSuppressions(ids, complaints, now) {
      const found = yield* rows<SuppressionRow>`DELETE FROM suppressions
        WHERE id ${among(ids)} AND (reason <> 'complaint' OR ${complaints})
        RETURNING ${ENTRY.selected}`;
      const removed = found.map(entryOf);
      for (const entry of removed) yield* tell('suppression.removed', entry, now);
      yield* change(-removed.length);
      return removed;
    },
    *suppressedAddresses(after, limit) {
      return yield* rows<SuppressedAddress>`SELECT id, address FROM suppressions WHERE id > ${after}
        ORDER BY id LIMIT ${limit}`;
    },
    *forgetSuppressions(now, limit) {
      const forgotten = yield* run`DELETE FROM suppressions WHERE id IN (
        SELECT id FROM suppressions WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit})
        AND expires_at <= ${now}`;
      yield* change(-forgotten);
      yield* foldChanges();
      return forgotten;
    },
  },
};

/** The list, where people who were erased are found by their pseudonyms. */
export function suppressionsWith(pseudonyms: Pseudonymous): Subject<SuppressionList> {
  const suppressionsUnder = (addresses: readonly string[]) => entriesUnder(addresses, pseudonyms);
  return { ...SUPPRESSIONS, verbs: { ...SUPPRESSIONS.verbs, suppressionsUnder } };
}

const NO_PSEUDONYMS: Pseudonymous = { of: () => null };

/** Few: see `MAX_OF_ADDRESS`. */
function* ofAddress({ address, before }: SuppressionQuery): Work<SuppressionRow[]> {
  const found = yield* rows<SuppressionRow>`
    SELECT ${ENTRY.selected} FROM suppressions WHERE address = ${address}`;
  return found.filter(({ id }) => before === null || id < before).sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Entries from the newest on, over the index that leaves out most. */
function* examine({ domain, scopes, before }: SuppressionQuery, most: number): Work<SuppressionRow[]> {
  const [scope, another] = scopes ?? [];
  const isNarrow = scope !== undefined && another === undefined && scope !== 'global';
  const ofDomain = domain === null ? sql`` : sql`domain = ${domain} AND`;
  // The index has only scopes besides the global one.
  const ofScope = isNarrow ? sql`scope <> 'global' AND scope = ${scope} AND` : sql``;
  return yield* rows<SuppressionRow>`SELECT ${ENTRY.selected} FROM suppressions
    WHERE ${ofDomain} ${ofScope} id < ${before ?? IDS_END}
    ORDER BY id DESC LIMIT ${most}`;
}

/** Above every id. */
const IDS_END = 'sup_~';

/** What an entry is the only one of. */
function placeOf(entry: Suppression | undefined): string {
  return entry === undefined ? '' : `${entry.address} ${entry.scope} ${entry.stream ?? ''}`;
}

/**
 * Adds an entry, or renews the one of its address, scope and stream, see `merged`. Only of a new one, or one that takes
 * the place of one that has ended, there is an event.
 */
export function* put(entry: Suppression, rules: AdditionRules): Work<Addition> {
  const size = new Size();
  const addition = yield* putWithin(entry, rules, size);
  yield* size.write();
  return addition;
}

function* putWithin(entry: Suppression, rules: AdditionRules, size: Size): Work<Addition> {
  const { address, scope, stream } = entry;
  // Locks the place of the entry against other writers, whether or not it exists.
  yield* send`${onPostgres(sql`SELECT pg_advisory_xact_lock(hashtextextended(${placeOf(entry)}, 0))`)}`;
  const [found] = yield* rows<SuppressionRow>`SELECT ${ENTRY.selected} FROM suppressions
    WHERE address = ${address} AND scope = ${scope} AND stream = ${stream ?? ''}`;
  const standing = found === undefined ? null : entryOf(found);
  if (standing !== null && !hasEnded(standing, rules.now)) {
    const renewed = merged(standing, entry);
    yield* update(renewed);
    return { kind: 'added', entry: renewed, isNew: false };
  }
  if (standing !== null) yield* size.remove(standing);
  const refusal = yield* makeRoom(entry, rules, size);
  if (refusal !== null) return { kind: refusal };
  yield* send`INSERT INTO suppressions (${ENTRY.names}) VALUES (${ENTRY.values(rowOf(entry))})`;
  size.add();
  yield* tell('suppression.added', entry, rules.now);
  return { kind: 'added', entry, isNew: true };
}

function update({ id, reason, source, evidence, note, updatedAt, expiresAt }: Suppression): Work<void> {
  return send`UPDATE suppressions SET reason = ${reason}, source = ${source}, evidence = ${proofOf(evidence)},
    note = ${note}, updated_at = ${updatedAt}, expires_at = ${expiresAt} WHERE id = ${id}`;
}

function rowOf(entry: Suppression): SuppressionRow {
  const { address, stream, evidence } = entry;
  return {
    ...entry,
    stream: stream ?? '',
    domain: domainOfSuppressed(address),
    evidence: proofOf(evidence),
  };
}

function proofOf(evidence: Evidence | null): string | null {
  return evidence === null ? null : JSON.stringify(evidence);
}

/** Makes room for an entry. Returns why there is none; null: there is. */
function* makeRoom(
  { address, reason }: Suppression,
  { max, by, now }: AdditionRules,
  size: Size,
): Work<'full' | 'crowded' | null> {
  if (by === 'hand') {
    const others =
      yield* rows`SELECT id FROM suppressions WHERE address = ${address} LIMIT ${MAX_OF_ADDRESS}`;
    if (others.length >= MAX_OF_ADDRESS) return 'crowded';
  }
  if ((yield* size.entries()) < max) return null;
  if (by === 'hand') return 'full';
  const [first] = yield* rows<SuppressionRow>`SELECT ${ENTRY.selected} FROM suppressions
    WHERE expires_at IS NOT NULL ORDER BY expires_at LIMIT 1`;
  if (first === undefined) return reason === 'complaint' || reason === 'unsubscribe' ? null : 'full';
  if (yield* size.remove(first)) yield* tell('suppression.removed', entryOf(first), now);
  return null;
}

/**
 * The size of the list as a transaction sees and changes it. It is kept as the sum of changes: in a single row, it would
 * make all writers wait for each other.
 */
class Size {
  #before: number | null = null;
  #change = 0;

  *entries(): Work<number> {
    if (this.#before === null) {
      const [sum] = yield* rows<{ readonly entries: number | null }>`
        SELECT sum(change) AS entries FROM suppression_counts`;
      this.#before = sum?.entries ?? 0;
    }
    return this.#before + this.#change;
  }

  add(): void {
    this.#change++;
  }

  /** Removes an entry. False: somebody else did. */
  *remove({ id }: Pick<Suppression, 'id'>): Work<boolean> {
    const removed = yield* run`DELETE FROM suppressions WHERE id = ${id}`;
    this.#change -= removed;
    return removed > 0;
  }

  write(): Work<void> {
    return change(this.#change);
  }
}

function* change(by: number): Work<void> {
  if (by !== 0) yield* send`INSERT INTO suppression_counts (change) VALUES (${by})`;
}

/** Makes one row of all that are there. */
function* foldChanges(): Work<void> {
  const changes = yield* rows<{ readonly change: number }>`DELETE FROM suppression_counts RETURNING change`;
  yield* change(changes.reduce((sum, one) => sum + one.change, 0));
}

/** Writes the event that an entry was added or removed at `now` (wall ms). */
function tell(
  type: 'suppression.added' | 'suppression.removed',
  { id, address, scope, stream, reason, source }: Suppression,
  now: number,
): Work<void> {
  const facts: EventFacts = { entry: { id, address, scope, stream, reason, source } };
  return send`INSERT INTO events (at, type, facts)
    VALUES (${now}, ${EVENT_TYPES[type].code}, ${JSON.stringify(facts)})`;
}

/** Lets the entries of a domain from an id on that a bounce made end within {@link GUARDED_ENTRY_MS}. */
export function endSoon(domain: string, firstId: string, now: number): Work<void> {
  const end = now + GUARDED_ENTRY_MS;
  // Imported ones have no evidence.
  return send`UPDATE suppressions SET expires_at = ${end}, updated_at = ${now}
    WHERE domain = ${domain} AND id >= ${firstId} AND created_at >= ${now - GUARD_WINDOW_MS}
      AND reason ${among(HELD_BACK)} AND evidence IS NOT NULL AND (expires_at IS NULL OR expires_at > ${end})`;
}
