import { z } from 'zod';
import { parseDomain } from '../../../../domain/domain-name.ts';
import type { SuppressionReason } from '../../../../domain/suppression.ts';
import { clientOrigin, type Exchange } from '../../../../http/exchange.ts';
import { Problem, pointerToken } from '../../../../http/problem.ts';
import { heldWhile, type Share } from '../../../../lib/budget.ts';
import { formatTimestamp, parseTimestamp } from '../../../../lib/clock.ts';
import { isId } from '../../../../lib/id.ts';
import { formatDate, parseDate } from '../../../../mail/trace.ts';
import type { SuppressionView } from '../../../../operations/suppressions.ts';
import type { Access, Call } from '../../call.ts';
import { refuseFaults } from '../../fields.ts';
import type { FormEntry } from '../../form-fields.ts';
import { asInteger, invalidQuery, NO_PARAMETERS, parameterFault, readParameters } from '../../query.ts';
import { readForm, readJsonBody, requireType } from '../../read-fields.ts';
import type { ProviderDeps, ProviderEndpoint } from '../provider.ts';
import { checked } from '../submitting.ts';
import { addEntries, entriesOfAddress, type NewEntry, removeEntries, walkEntries } from '../suppressed.ts';

/**
 * Mailgun's lists of a domain (contract-2 §C5). Ours is one list: an entry is on Mailgun's by its reason, and on those of
 * a domain if it stops that domain's mail. What is added stops that alone.
 */

const READ: Access = { scheme: 'basic', scopes: ['suppressions:read', 'admin'], window: 'read' };
const WRITE: Access = { scheme: 'basic', scopes: ['suppressions:write', 'admin'], window: 'send' };

const text = () => z.string().max(2000).nullish();
const address = z.string().min(1).max(1000);
const time = text().transform((given, context): number | null => {
  if (!given) return null;
  const at = parseTimestamp(given) ?? parseDate(given);
  if (at !== null) return at;
  const message = 'Must be a time such as "Fri, 20 Nov 2026 11:15:00 +0000".';
  context.issues.push({ code: 'custom', input: given, message });
  return z.NEVER;
});
const ALL_TAGS =
  'Must be "*": an entry stops all mail of the domain. For some of it, add one with a stream at /api/v1/suppressions.';
const everyTag = z.string().refine((tag) => tag === '*', ALL_TAGS);

/** One of Mailgun's lists. */
interface List {
  readonly name: string;
  /** Of the entries on it; what is added has the first. */
  readonly reasons: readonly [SuppressionReason, ...SuppressionReason[]];
  /** What is added, and what else it says. */
  readonly schema: z.ZodType<Added>;
  /** What it tells of an entry besides its address and time. */
  readonly show: (entry: SuppressionView) => object;
  readonly removed: string;
}

interface Added {
  readonly address: string;
  readonly created_at: number | null;
  readonly code?: string | number | null | undefined;
  readonly error?: string | null | undefined;
}

// biome-ignore format: a table
const LISTS: readonly List[] = [
  {
    name: 'bounces',
    reasons: ['hard_bounce', 'soft_bounces', 'provider'],
    schema: z.strictObject({ address, code: z.union([z.string().max(10), z.int()]).nullish(), error: text(), created_at: time }),
    show: ({ evidence, note, reason }) => ({ code: String(evidence?.code ?? 550), error: evidence?.text || note || reason }),
    removed: 'Bounced address has been removed',
  },
  {
    name: 'complaints',
    reasons: ['complaint'],
    schema: z.strictObject({ address, created_at: time }),
    show: () => ({}),
    removed: 'Spam complaint has been removed',
  },
  {
    name: 'unsubscribes',
    reasons: ['unsubscribe', 'manual', 'import'],
    schema: z.strictObject({ address, tag: everyTag.nullish(), tags: z.array(everyTag).nullish(), created_at: time }),
    show: ({ stream }) => ({ tags: [stream ?? '*'] }),
    removed: 'Unsubscribe event has been removed',
  },
];

/** The calls about suppressed addresses. */
export const SUPPRESSION_ENDPOINTS: readonly ProviderEndpoint[] = LISTS.flatMap(
  (list): ProviderEndpoint[] => {
    const path = `/v3/{domain}/${list.name}`;
    const one = `${path}/{address}`;
    return [
      { method: 'GET', path, access: READ, handle: (call, deps) => showList(call, list, deps) },
      { method: 'POST', path, access: WRITE, handle: (call, deps) => addAll(call, list, deps) },
      { method: 'GET', path: one, access: READ, handle: (call, deps) => showOne(call, list, deps) },
      { method: 'DELETE', path: one, access: WRITE, handle: (call, deps) => remove(call, list, deps) },
    ];
  },
);

/** Answers with an entry. */
async function showOne(call: Call, list: List, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const [entry] = await entriesOf(call, list, call.params['address'] ?? '', deps);
  if (entry === undefined) throw notFound(list);
  call.exchange.json(200, shown(entry, list));
}

/** Takes an address off a list. */
async function remove(call: Call, list: List, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const which = call.params['address'] ?? '';
  const removed = await removeEntries(call, await entriesOf(call, list, which, deps), deps);
  if (removed === 0) throw notFound(list);
  call.exchange.json(200, { message: list.removed, address: which });
}

function notFound({ name }: List): Problem {
  return new Problem(404, 'suppression_not_found', `Address not found in ${name} table`);
}

function shown(entry: SuppressionView, list: List): object {
  const at = parseTimestamp(entry.evidence?.at ?? entry.createdAt) ?? 0;
  return { address: entry.address, ...list.show(entry), created_at: formatDate(at) };
}

/** The entries of an address on a list, the newest first. */
async function entriesOf(
  call: Call,
  { reasons }: List,
  which: string,
  deps: ProviderDeps,
): Promise<SuppressionView[]> {
  const scopes = scopesOf(call);
  const entries = await entriesOfAddress(call, which, reasons, deps);
  return entries.filter(({ scope }) => scopes.includes(scope));
}

/** Entries of these scopes stop the domain's mail, or that of this key. */
function scopesOf(call: Call): string[] {
  return ['global', scopeOf(call), `key:${call.caller.key.name}`];
}

/** The scope of what is added. Throws the problem 404 for what is no domain. */
function scopeOf({ params }: Call): string {
  const domain = parseDomain(params['domain'] ?? '');
  if (domain === null) throw new Problem(404, 'not_found', 'There is no such domain.');
  return `domain:${domain}`;
}

/** Mailgun takes as many at once. */
const MAX_ADDED = 1000;

/** Adds addresses: all, or none where one is wrong. */
async function addAll(call: Call, list: List, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  await heldWhile(deps.budget.share(caller.key.id), async (budget) => {
    const value = await readAdded(exchange, deps, budget);
    const isList = Array.isArray(value);
    const given = isList
      ? checked(value, z.array(list.schema).min(1).max(MAX_ADDED))
      : [checked(value, list.schema)];
    readParameters(exchange.query, NO_PARAMETERS);
    const now = deps.clock.wall();
    const rows = given.map((one) => rowOf(one, now));
    // A test key has entries of its own alone.
    const scope = caller.key.mode === 'test' ? null : scopeOf(call);
    const pointTo = (place: number) => (isList ? `/${place}/address` : '/address');
    const [first] = await addEntries(call, rows, { reason: list.reasons[0], scope, pointTo }, deps);
    const table = `added to the ${list.name} table`;
    if (isList) exchange.json(200, { message: `${rows.length} addresses have been ${table}` });
    else exchange.json(200, { message: `Address has been ${table}`, address: first });
  });
}

/**
 * As a row of an import: with its time, code and text become the entry's evidence. Without any of them there is none, or
 * it would take the place of a standing entry's.
 */
function rowOf({ address: written, code, error, created_at }: Added, now: number): NewEntry {
  return {
    address: written,
    ...((created_at !== null || code != null || error) && {
      created_at: formatTimestamp(Math.min(created_at ?? now, now)),
    }),
    ...(code != null && { code: String(code) }),
    ...(error && { error }),
  };
}

/** What is to be added: a list of JSON, an object, or the fields of a form. */
async function readAdded(
  exchange: Exchange,
  { options: { limits } }: ProviderDeps,
  budget: Share,
): Promise<unknown> {
  const types = ['application/json', 'multipart/form-data', 'application/x-www-form-urlencoded'];
  if (requireType(exchange, types).type !== 'application/json')
    return fieldsIn(await readForm(exchange, { limits, budget }));
  return await readJsonBody(exchange, { limits, budget });
}

/** The fields of a form by their names. Throws a problem 400 for a file, and for a field that is given twice. */
function fieldsIn(form: readonly FormEntry[]): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  for (const entry of form) {
    const pointer = `/${pointerToken(entry.name)}`;
    if ('file' in entry)
      refuseFaults([{ pointer, code: 'type', detail: 'Must be a plain field, without a filename.' }]);
    else if (fields.has(entry.name))
      refuseFaults([{ pointer, code: 'repeated', detail: 'May be given only once; remove the others.' }]);
    else if (entry.value !== '') fields.set(entry.name, entry.value);
  }
  return Object.fromEntries(fields);
}

// Pages, the newest entry first. An entry's id is its place; its address is shown beside it, as Mailgun does.

const MAX_LIMIT = 1000;
const PAGES = ['first', 'last', 'next', 'previous'] as const;

// biome-ignore format: a table
const LIST_PARAMETERS = {
  limit: { schema: z.int().min(1).max(MAX_LIMIT).default(100), fromText: asInteger, code: 'out_of_range', rule: `an integer from 1 to ${MAX_LIMIT}`, meaning: 'How many entries.', example: '100' },
  page: { schema: z.enum(PAGES).default('first'), code: 'type', rule: `one of ${PAGES.join(', ')}`, meaning: 'Which page.', example: 'next' },
  address: { schema: address.optional(), code: 'address_syntax', rule: 'an address of the list', meaning: 'The page is next to this address.', example: 'ann@example.org' },
  cursor: { schema: z.string().refine((id) => isId(id, 'sup_')).optional(), code: 'bad_cursor', rule: 'that of a page link', meaning: 'The same, exactly.', example: 'sup_01k9f5y7f0e2c4a8b6d0e2f4g6' },
};

/** Answers with a page of a list. */
async function showList(call: Call, list: List, deps: ProviderDeps): Promise<void> {
  const { exchange } = call;
  const { limit, page, ...place } = readParameters(exchange.query, LIST_PARAMETERS);
  const at = page === 'next' || page === 'previous' ? await placeOf(call, list, place, deps) : null;
  const isBack = page === 'previous' || page === 'last';
  // Back from a place, and from the end, entries are read from the newest on.
  const found = isBack
    ? await entriesFrom(call, list, { below: null, downTo: at }, Number.POSITIVE_INFINITY, deps)
    : await entriesFrom(call, list, { below: at, downTo: null }, limit, deps);
  if (page === 'previous' && found.next !== null) throw tooFar();
  const entries = isBack ? found.entries.filter(({ id }) => id !== at).slice(-limit) : found.entries;
  const [first, last] = [entries[0], entries.at(-1)];
  const onward = (isBack ? null : found.next) ?? last?.id ?? at;
  const link = (name: (typeof PAGES)[number], entry?: SuppressionView, cursor: string | null = null) => {
    const query = new URLSearchParams({ page: name });
    if (entry !== undefined) query.set('address', entry.address);
    if (cursor !== null) query.set('cursor', cursor);
    query.set('limit', String(limit));
    return `${clientOrigin(exchange, deps.options.trustedProxies)}${exchange.path}?${query}`;
  };
  exchange.json(200, {
    items: entries.map((entry) => shown(entry, list)),
    paging: {
      first: link('first'),
      last: link('last'),
      next: onward === null ? link('first') : link('next', last, onward),
      previous: first === undefined ? link('last') : link('previous', first, first.id),
    },
  });
}

/** The id of the entry next to which a page is. Throws the problem 400. */
async function placeOf(
  call: Call,
  list: List,
  { address: which, cursor }: { readonly address?: string | undefined; readonly cursor?: string | undefined },
  deps: ProviderDeps,
): Promise<string> {
  const found =
    cursor ?? (which === undefined ? undefined : (await entriesOf(call, list, which, deps))[0]?.id);
  if (found !== undefined) return found;
  const detail = 'Must be the address of an entry of this list; without page, the list starts again.';
  throw invalidQuery([parameterFault('address', 'bad_cursor', detail)]);
}

function tooFar(): Problem {
  const detail = 'Only the newest entries can be paged through backwards; follow next from the first page.';
  return invalidQuery([parameterFault('page', 'out_of_range', detail)]);
}

/** The newest entries of a list within these bounds, up to `count`, by one walk through all reasons and scopes. */
async function entriesFrom(
  call: Call,
  { reasons }: List,
  bounds: { readonly below: string | null; readonly downTo: string | null },
  count: number,
  deps: ProviderDeps,
): ReturnType<typeof walkEntries> {
  const scopes = scopesOf(call);
  const [reason, ...others] = reasons;
  const wanted = { reason: others.length === 0 ? reason : null, address: null, since: null, until: null };
  const isOn = (entry: SuppressionView) => reasons.includes(entry.reason) && scopes.includes(entry.scope);
  return await walkEntries(call, { ...wanted, ...bounds }, count, isOn, deps);
}
