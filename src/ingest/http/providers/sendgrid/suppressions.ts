import { z } from 'zod';
import type { SuppressionReason } from '../../../../domain/suppression.ts';
import { Problem } from '../../../../http/problem.ts';
import { heldWhile } from '../../../../lib/budget.ts';
import { formatTimestamp, parseTimestamp } from '../../../../lib/clock.ts';
import type { SuppressionView } from '../../../../operations/suppressions.ts';
import type { Access, Call } from '../../call.ts';
import { asInteger, invalidQuery, NO_PARAMETERS, parameterFault, readParameters } from '../../query.ts';
import type { ProviderDeps, ProviderEndpoint } from '../provider.ts';
import { readBody } from '../submitting.ts';
import { addEntries, entriesOfAddress, newestEntries, removeEntries } from '../suppressed.ts';

/**
 * SendGrid's lists of suppressed addresses (contract-2 §C4). Ours is one list: an entry is on SendGrid's by its reason.
 * What a key sees and changes is as at `/api/v1/suppressions`.
 */

const READ: Access = { scheme: 'bearer', scopes: ['suppressions:read', 'admin'], window: 'read' };
const WRITE: Access = { scheme: 'bearer', scopes: ['suppressions:write', 'admin'], window: 'send' };

/** One of SendGrid's lists. */
interface List {
  /** Of the entries on it. */
  readonly reasons: readonly SuppressionReason[];
  /** What it tells of an entry besides its address and time. */
  readonly show: (entry: SuppressionView) => Readonly<Record<string, string>>;
}

const reason = ({ evidence, note, reason: word }: SuppressionView) => ({
  reason: evidence?.text || note || word,
});
const reasonAndStatus = (entry: SuppressionView) => ({
  ...reason(entry),
  status: entry.evidence?.enhancedCode ?? '',
});

/** Nothing is blocked or invalid here: a refusal for its content suppresses nobody, and no such address is taken. */
// biome-ignore format: a table
const LISTS = {
  bounces:        { reasons: ['hard_bounce', 'soft_bounces', 'provider'], show: reasonAndStatus },
  blocks:         { reasons: [],                                          show: reasonAndStatus },
  invalid_emails: { reasons: [],                                          show: reason },
  spam_reports:   { reasons: ['complaint'],                               show: () => ({ ip: '' }) },
  unsubscribes:   { reasons: ['unsubscribe', 'manual', 'import'],         show: () => ({}) },
} as const satisfies Readonly<Record<string, List>>;

const GLOBAL = '/v3/asm/suppressions/global';
const { unsubscribes } = LISTS;

/** The calls about suppressed addresses. */
export const SUPPRESSION_ENDPOINTS: readonly ProviderEndpoint[] = [
  ...Object.entries(LISTS).flatMap(([name, list]) => listEndpoints(`/v3/suppression/${name}`, list)),
  { method: 'GET', path: GLOBAL, access: READ, handle: (call, deps) => showList(call, unsubscribes, deps) },
  { method: 'POST', path: GLOBAL, access: WRITE, handle: addAll },
  { method: 'GET', path: `${GLOBAL}/{email}`, access: READ, handle: showGlobal },
  {
    method: 'DELETE',
    path: `${GLOBAL}/{email}`,
    access: WRITE,
    handle: (call, deps) => remove(call, unsubscribes, deps),
  },
];

function listEndpoints(path: string, list: List): ProviderEndpoint[] {
  const one = `${path}/{email}`;
  return [
    { method: 'GET', path, access: READ, handle: (call, deps) => showList(call, list, deps) },
    { method: 'GET', path: one, access: READ, handle: (call, deps) => showOne(call, list, deps) },
    { method: 'DELETE', path: one, access: WRITE, handle: (call, deps) => remove(call, list, deps) },
  ];
}

/** As many as SendGrid's own pages have. */
const MAX_LIMIT = 500;
/** What is skipped is read: no page may cost more. */
const MAX_OFFSET = 10_000;
/** The last second of the year 9999. */
const MAX_SECONDS = 253_402_300_798;
const second = z.int().min(0).max(MAX_SECONDS).optional();
const SECOND = { schema: second, fromText: asInteger, code: 'out_of_range', rule: 'seconds since 1970' };

// biome-ignore format: a table
const LIST_PARAMETERS = {
  start_time: { ...SECOND, meaning: 'Only entries made then or later.', example: '1763640900' },
  end_time: { ...SECOND, meaning: 'Only entries made then or before.', example: '1763640900' },
  limit: { schema: z.int().min(1).max(MAX_LIMIT).default(MAX_LIMIT), fromText: asInteger, code: 'out_of_range', rule: `an integer from 1 to ${MAX_LIMIT}`, meaning: 'How many entries.', example: '100' },
  offset: { schema: z.int().min(0).default(0), fromText: asInteger, code: 'out_of_range', rule: 'an integer', meaning: 'How many entries to skip.', example: '100' },
};

/** Answers with the entries of a list, the newest first. */
async function showList(call: Call, list: List, deps: ProviderDeps): Promise<void> {
  const { start_time, end_time, limit, offset } = readParameters(call.exchange.query, LIST_PARAMETERS);
  if (offset > MAX_OFFSET) {
    const detail = `Must be at most ${MAX_OFFSET}; ask for what is older with end_time.`;
    throw invalidQuery([parameterFault('offset', 'out_of_range', detail)]);
  }
  const since = start_time === undefined ? null : formatTimestamp(start_time * 1000);
  // Ours is exclusive.
  const until = end_time === undefined ? null : formatTimestamp((end_time + 1) * 1000);
  const end = offset + limit;
  const found: SuppressionView[] = [];
  for (const word of list.reasons)
    found.push(...(await newestEntries(call, { reason: word, address: null, since, until }, end, deps)));
  // Ids are in the order of their making.
  const entries = found.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(offset, end);
  call.exchange.json(200, entries.map(shownIn(list)));
}

/** Answers with what a list has of an address: one entry, or none; several where scopes differ. */
async function showOne(call: Call, list: List, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  call.exchange.json(200, (await entriesOf(call, list, deps)).map(shownIn(list)));
}

async function showGlobal(call: Call, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const [entry] = await entriesOf(call, unsubscribes, deps);
  call.exchange.json(200, entry === undefined ? {} : { recipient_email: entry.address });
}

/** Takes an address off one list. */
async function remove(call: Call, list: List, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const removed = await removeEntries(call, await entriesOf(call, list, deps), deps);
  if (removed === 0) throw new Problem(404, 'suppression_not_found', 'The address is not on this list.');
  call.exchange.empty(204);
}

const newSchema = z.strictObject({ recipient_emails: z.array(z.string()).min(1).max(1000) });

/** Adds addresses that want no more mail: all, or none where one is wrong. */
async function addAll(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  await heldWhile(deps.budget.share(caller.key.id), async (budget) => {
    const { recipient_emails: given } = await readBody(exchange, newSchema, deps, budget);
    readParameters(exchange.query, NO_PARAMETERS);
    const added = await addEntries(
      call,
      given.map((address) => ({ address })),
      { reason: 'unsubscribe', scope: null, pointTo: (place) => `/recipient_emails/${place}` },
      deps,
    );
    exchange.json(201, { recipient_emails: added });
  });
}

function shownIn({ show }: List) {
  return (entry: SuppressionView) => ({
    created: Math.floor((parseTimestamp(entry.createdAt) ?? 0) / 1000),
    email: entry.address,
    ...show(entry),
  });
}

/** The entries of a list for the address in the path. */
function entriesOf(call: Call, { reasons }: List, deps: ProviderDeps): Promise<SuppressionView[]> {
  return entriesOfAddress(call, call.params['email'] ?? '', reasons, deps);
}
