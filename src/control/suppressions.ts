import { feedbackText } from '../domain/feedback.ts';
import { suppressionKeys } from '../domain/suppressed-address.ts';
import { type Asking, hasEnded, type Suppression, stoppedBy, widest } from '../domain/suppression.ts';
import { createIdSource, idFloor, isId } from '../lib/id.ts';
import type {
  AddedSuppression,
  SuppressionCheck,
  SuppressionOperations,
  SuppressionsPage,
  SuppressionView,
} from '../operations/suppressions.ts';
import type { RequestOf, ResultOf } from '../operations/table.ts';
import { ID_SLACK_MS, type SuppressionQuery } from '../store/suppressions.ts';
import type { LocalDeps } from './deps.ts';
import { csvLine } from './export.ts';
import { type InForce, suppressionRules } from './in-force.ts';
import { importSuppressions } from './suppression-import.ts';
import {
  addressIn,
  cursorIn,
  domainIn,
  faulty,
  fromDomainIn,
  isAmong,
  listFull,
  mailboxIn,
  noEntry,
  ofComplaint,
  type Scopes,
  sourceNow,
  streamIn,
  timeIn,
  viewFor,
} from './suppression-view.ts';

/** What they need. */
export interface SuppressionDeps extends Pick<LocalDeps, 'suppressions' | 'keyring' | 'clock' | 'random'> {
  readonly resolution: () => Pick<InForce, 'config'>;
}

/** The operations on the suppression list. */
export function suppressionOperations(deps: SuppressionDeps): SuppressionOperations {
  const nextId = createIdSource(deps.clock, deps.random, 'sup_');
  return {
    listSuppressions: (request) => listSuppressions(request, deps),
    getSuppression: (request) => getSuppression(request, deps),
    addSuppression: (request) => addSuppression(request, deps, nextId),
    removeSuppressions: (request) => removeSuppressions(request, deps),
    checkSuppressions: (request) => checkSuppressions(request, deps),
    importSuppressions: async (request, progress) => {
      const view = await viewFor(request.as ?? null, deps);
      return await importSuppressions(request, { ...deps, view, nextId, progress });
    },
    exportSuppressions: (request) => exportSuppressions(request, deps),
  };
}

/** What stands in a query without conditions. */
const ANY = { address: null, domain: null, reason: null, stream: null, since: null, until: null };

async function listSuppressions(
  request: RequestOf<'listSuppressions'>,
  deps: SuppressionDeps,
): Promise<SuppressionsPage> {
  const { reason, limit, cursor } = request;
  const view = await viewFor(request.as ?? null, deps);
  const address = request.address === null ? null : addressIn(request.address, '/address');
  const asked = request.scope === null ? null : view.scopeIn(request.scope, '/scope');
  // A list would tell of everybody's; of one address it tells no more than looking that up does.
  const scopes = view.among(asked, address === null ? view.changes : view.reads);
  const [since, until] = [timeIn(request.since, '/since'), timeIn(request.until, '/until')];
  const query: SuppressionQuery = {
    address,
    domain: request.domain === null ? null : domainIn(request.domain, '/domain'),
    reason,
    scopes,
    stream: streamIn(request.stream, '/stream'),
    since,
    until,
    limit,
    before: beforeOf(cursorIn(cursor), until),
    now: deps.clock.wall(),
  };
  // The store would look at the whole list, and give ids of others as cursors.
  if (scopes?.length === 0) return { suppressions: [], hasMore: false };
  const { entries, next } = await deps.suppressions.suppressions(query);
  const suppressions = entries.map(view.show);
  return next === null ? { suppressions, hasMore: false } : { suppressions, hasMore: true, nextCursor: next };
}

/** The lower of two ends, each of which may be missing. */
function beforeOf(cursor: string | null, until: number | null): SuppressionQuery['before'] {
  if (until === null) return cursor;
  const end = idFloor('sup_', until + ID_SLACK_MS);
  return cursor === null || cursor > end ? end : cursor;
}

async function getSuppression(
  { which, as = null }: RequestOf<'getSuppression'>,
  deps: SuppressionDeps,
): Promise<SuppressionView> {
  const view = await viewFor(as, deps);
  const entry = widest(await entriesNamed(which, view.reads, deps));
  if (entry === null) throw noEntry(which);
  return view.show(entry);
}

/** The entries that an id or an address names, of these scopes, and that have not ended. */
async function entriesNamed(
  which: string,
  scopes: Scopes,
  { suppressions, clock }: SuppressionDeps,
): Promise<Suppression[]> {
  const now = clock.wall();
  const found = isId(which, 'sup_')
    ? [await suppressions.suppression(which)]
    : await suppressions.suppressionsUnder([addressIn(which, '/which')]);
  return found
    .flatMap((entry) => entry ?? [])
    .filter((entry) => !hasEnded(entry, now) && isAmong(entry.scope, scopes));
}

async function addSuppression(
  request: RequestOf<'addSuppression'>,
  deps: SuppressionDeps,
  nextId: () => string,
): Promise<AddedSuppression> {
  const { clock, suppressions, resolution } = deps;
  const view = await viewFor(request.as ?? null, deps);
  const now = clock.wall();
  const expiresAt = timeIn(request.expiresAt, '/expiresAt');
  if (expiresAt !== null && expiresAt <= now)
    throw faulty('/expiresAt', 'in_the_past', 'Must be in the future: the entry would already have ended.');
  const entry: Suppression = {
    id: nextId(),
    address: addressIn(request.address, '/address'),
    scope: view.changeable(request.scope, '/scope'),
    stream: streamIn(request.stream, '/stream'),
    reason: request.reason ?? 'manual',
    source: sourceNow(),
    evidence: null,
    note: feedbackText(request.note ?? ''),
    createdAt: now,
    updatedAt: now,
    expiresAt,
  };
  const max = suppressionRules(resolution().config).maxEntries;
  const [addition] = await suppressions.addSuppressions([entry], { max, by: 'hand', now });
  if (addition?.kind === 'added') return { suppression: view.show(addition.entry), added: addition.isNew };
  if (addition?.kind === 'crowded')
    throw faulty('/address', 'too_many', 'This address has as many entries as one may have; remove some.');
  throw listFull('');
}

async function removeSuppressions(
  { which, complaints = false, as = null }: RequestOf<'removeSuppressions'>,
  deps: SuppressionDeps,
): Promise<ResultOf<'removeSuppressions'>> {
  const view = await viewFor(as, deps);
  const entries = await entriesNamed(which, view.changes, deps);
  if (entries.length === 0) throw noEntry(which);
  if (!complaints && entries.some(({ reason }) => reason === 'complaint')) throw ofComplaint(which);
  const ids = entries.map(({ id }) => id);
  const removed = await deps.suppressions.removeSuppressions(ids, complaints, deps.clock.wall());
  return { removed: removed.length };
}

/** Addresses that are looked up in one turn: others may write in between. */
const CHECKED_AT_ONCE = 200;

async function checkSuppressions(
  { addresses, from, stream, as = null }: RequestOf<'checkSuppressions'>,
  deps: SuppressionDeps,
): Promise<SuppressionCheck> {
  const view = await viewFor(as, deps);
  const mailboxes = addresses.map((text, place) => mailboxIn(text, `/addresses/${place}`));
  const asking: Asking = {
    ...view.mail,
    fromDomain: from === null ? null : fromDomainIn(from),
    stream: streamIn(stream, '/stream'),
    ignores: false,
  };
  const now = deps.clock.wall();
  const results: SuppressionCheck['results'][number][] = [];
  for (let place = 0; place < mailboxes.length; place += CHECKED_AT_ONCE) {
    const keys = mailboxes.slice(place, place + CHECKED_AT_ONCE).map(suppressionKeys);
    const found = await deps.suppressions.suppressionsUnder([...new Set(keys.flat())]);
    const under = Map.groupBy(found, ({ address }) => address);
    for (const [next, forms] of keys.entries()) {
      const entry = stoppedBy(
        forms.flatMap((form) => under.get(form) ?? []),
        asking,
        now,
      );
      const address = addresses[place + next] ?? '';
      // What stops the mail may be of a scope that this key may not read.
      const shown = entry !== null && isAmong(entry.scope, view.reads) ? view.show(entry) : null;
      results.push({ address, suppressed: entry !== null, suppression: shown });
    }
  }
  return { results };
}

/** Entries of one page of an export. */
const EXPORT_PAGE = 1000;

async function exportSuppressions(
  { cursor, as = null }: RequestOf<'exportSuppressions'>,
  deps: SuppressionDeps,
): Promise<ResultOf<'exportSuppressions'>> {
  const view = await viewFor(as, deps);
  const { entries, next } = await deps.suppressions.suppressions({
    ...ANY,
    scopes: view.among(null, view.changes),
    limit: EXPORT_PAGE,
    before: cursorIn(cursor),
    now: deps.clock.wall(),
  });
  const lines = entries.map(view.show).map((entry) => csvLine(COLUMNS.map(([, cell]) => cell(entry))));
  const header = cursor === null ? [csvLine(COLUMNS.map(([column]) => column))] : [];
  return { text: [...header, ...lines].join(''), entries: entries.length, next };
}

// biome-ignore format: a table
const COLUMNS: readonly (readonly [name: string, cell: (entry: SuppressionView) => string | number | null | undefined])[] = [
  ['id', ({ id }) => id],
  ['address', ({ address }) => address],
  ['scope', ({ scope }) => scope],
  ['stream', ({ stream }) => stream],
  ['reason', ({ reason }) => reason],
  ['source', ({ source }) => source],
  ['note', ({ note }) => note],
  ['createdAt', ({ createdAt }) => createdAt],
  ['updatedAt', ({ updatedAt }) => updatedAt],
  ['expiresAt', ({ expiresAt }) => expiresAt],
  ['messageId', ({ evidence }) => evidence?.messageId],
  ['code', ({ evidence }) => evidence?.code],
  ['enhancedCode', ({ evidence }) => evidence?.enhancedCode],
  ['text', ({ evidence }) => evidence?.text],
];
