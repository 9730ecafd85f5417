import { z } from 'zod';
import { parseMailbox } from '../../../../domain/mailbox.ts';
import { suppressedOf } from '../../../../domain/suppressed-address.ts';
import type { SuppressionReason } from '../../../../domain/suppression.ts';
import { Problem } from '../../../../http/problem.ts';
import { heldWhile } from '../../../../lib/budget.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import { isId, messageUuid, readMessageId } from '../../../../lib/id.ts';
import type { SuppressionView } from '../../../../operations/suppressions.ts';
import type { Access, Call } from '../../call.ts';
import { refuseFaults } from '../../fields.ts';
import { NO_PARAMETERS, readParameters } from '../../query.ts';
import { askOfList } from '../../suppressions.ts';
import type { ProviderDeps, ProviderEndpoint } from '../provider.ts';
import { readBody } from '../submitting.ts';
import { addEntries, newestEntries } from '../suppressed.ts';
import { newerThan, type Page, pageAsked, pageParameters } from './paging.ts';

/** Resend's suppressions, which are our list (contract-2 §C2). Ids are UUIDs, the same 128 bits as ours. */

const READ: Access = { scheme: 'bearer', scopes: ['suppressions:read', 'admin'], window: 'read' };
const WRITE: Access = { scheme: 'bearer', scopes: ['suppressions:write', 'admin'], window: 'send' };

const LIST = '/suppressions';

/** The calls about suppressed addresses. */
// biome-ignore format: a table
export const SUPPRESSION_ENDPOINTS: readonly ProviderEndpoint[] = [
  { method: 'POST',   path: LIST,                    access: WRITE, handle: add },
  { method: 'GET',    path: LIST,                    access: READ,  handle: list },
  { method: 'GET',    path: `${LIST}/{id}`,          access: READ,  handle: show },
  { method: 'DELETE', path: `${LIST}/{id}`,          access: WRITE, handle: remove },
  { method: 'POST',   path: `${LIST}/batch/add`,     access: WRITE, handle: addAll },
  { method: 'POST',   path: `${LIST}/batch/remove`,  access: WRITE, handle: removeAll },
];

/** Resend's words for our reasons. */
const ORIGINS = {
  bounce: ['hard_bounce', 'soft_bounces', 'provider'],
  complaint: ['complaint'],
  manual: ['unsubscribe', 'manual', 'import'],
} as const satisfies Readonly<Record<string, readonly SuppressionReason[]>>;

type Origin = keyof typeof ORIGINS;
const ORIGIN_NAMES = Object.keys(ORIGINS) as Origin[];

function originOf(reason: SuppressionReason): Origin {
  return ORIGIN_NAMES.find((name) => ORIGINS[name].some((one) => one === reason)) ?? 'manual';
}

/** Adds an address. */
async function add(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  const { email } = await readBody(
    exchange,
    z.strictObject({ email: z.string() }),
    deps,
    deps.budget.share(caller.key.id),
  );
  readParameters(exchange.query, NO_PARAMETERS);
  const parsed = parseMailbox(email.trim());
  if (!parsed.ok) {
    const { code, detail } = parsed;
    return refuseFaults([{ pointer: '/email', code, detail }]);
  }
  await call.checkKey();
  const { suppression } = await askOfList('addSuppression', call, deps, {
    // Here `*@example.org` is no pattern.
    address: suppressedOf(parsed.value.address).address,
    scope: null,
    stream: null,
    expiresAt: null,
  });
  exchange.json(201, named(suppression.id));
}

const origin = {
  schema: z.enum(ORIGIN_NAMES).optional(),
  code: 'type',
  rule: 'bounce, complaint or manual',
  meaning: 'Only those of this origin.',
  example: 'bounce',
};

/** Answers with entries, the newest first. */
async function list(call: Call, deps: ProviderDeps): Promise<void> {
  const asked = readParameters(call.exchange.query, { ...pageParameters(readId), origin });
  const { limit, after, before } = pageAsked(asked);
  const reasons = asked.origin === undefined ? [null] : ORIGINS[asked.origin];
  const newest = async (wanted: Partial<Parameters<typeof newestEntries>[1]>, count: number) => {
    const found: SuppressionView[] = [];
    for (const reason of reasons) {
      const all = { reason, address: null, since: null, until: null, ...wanted };
      found.push(...(await newestEntries(call, all, count, deps)));
    }
    // Ids are in the order of their making.
    return found.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, count);
  };
  let page: Page<SuppressionView>;
  if (before === null) {
    const items = await newest({ below: after }, limit + 1);
    page = { items: items.slice(0, limit), hasMore: items.length > limit };
  } else
    page = await newerThan(before, limit, deps.clock.wall(), ({ since, until }, count) =>
      newest({ since: formatTimestamp(since), until: until === null ? null : formatTimestamp(until) }, count),
    );
  call.exchange.json(200, { object: 'list', has_more: page.hasMore, data: page.items.map(entryJson) });
}

async function show(call: Call, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const entry = await askOfList('getSuppression', call, deps, { which: whichOf(call.params['id'] ?? '') });
  call.exchange.json(200, { object: 'suppression', ...entryJson(entry) });
}

async function remove(call: Call, deps: ProviderDeps): Promise<void> {
  readParameters(call.exchange.query, NO_PARAMETERS);
  const id = await removeOne(whichOf(call.params['id'] ?? ''), call, deps);
  call.exchange.json(200, { ...named(id), deleted: true });
}

/** Removes an entry, or those of an address, and returns its id; not one whose owner complained. Throws 404, 409. */
async function removeOne(which: string, call: Call, deps: ProviderDeps): Promise<string> {
  const { id } = await askOfList('getSuppression', call, deps, { which });
  await askOfList('removeSuppressions', call, deps, { which, complaints: false });
  return id;
}

/** Resend takes as many at once. */
const several = z.array(z.string()).min(1).max(100);

/** Adds addresses: all, or none where one is wrong. What is there already is told as it is. */
async function addAll(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  await heldWhile(deps.budget.share(caller.key.id), async (budget) => {
    const { emails } = await readBody(exchange, z.strictObject({ emails: several }), deps, budget);
    readParameters(exchange.query, NO_PARAMETERS);
    const added = await addEntries(
      call,
      emails.map((email) => ({ address: email.trim() })),
      { reason: 'manual', scope: null, pointTo: (place) => `/emails/${place}` },
      deps,
    );
    const data: object[] = [];
    for (const which of added)
      data.push(named((await askOfList('getSuppression', call, deps, { which })).id));
    exchange.json(200, { data });
  });
}

const removalSchema = z.strictObject({ emails: several.optional(), ids: several.optional() });
const ONE_OF_BOTH = { pointer: '/emails', code: 'combination', detail: 'Give emails or ids, and not both.' };

/** Removes entries, each by itself; what is not there, or stays, is told so. */
async function removeAll(call: Call, deps: ProviderDeps): Promise<void> {
  const { exchange, caller } = call;
  await heldWhile(deps.budget.share(caller.key.id), async (budget) => {
    const { emails, ids } = await readBody(exchange, removalSchema, deps, budget);
    readParameters(exchange.query, NO_PARAMETERS);
    if ((emails === undefined) === (ids === undefined)) refuseFaults([ONE_OF_BOTH]);
    await call.checkKey();
    const data: object[] = [];
    for (const text of emails ?? ids ?? []) data.push(await removed(text, call, deps));
    exchange.json(200, { data });
  });
}

async function removed(text: string, call: Call, deps: ProviderDeps): Promise<object> {
  try {
    return { ...named(await removeOne(whichOf(text.trim()), call, deps)), deleted: true };
  } catch (error) {
    if (!(error instanceof Problem) || (error.status !== 404 && error.status !== 409)) throw error;
    return { object: 'suppression', id: text, deleted: false };
  }
}

/** The id that a text is, in either form; null if it has neither. */
function readId(text: string): string | null {
  if (isId(text, 'sup_')) return text;
  const id = text.startsWith('msg_') ? null : readMessageId(text);
  return id === null ? null : `sup_${id.slice('msg_'.length)}`;
}

/** What an entry is named by in a path or a body. Throws the problem 404. */
function whichOf(text: string): string {
  const isAddress = text.includes('@') && !text.startsWith('*');
  const which = isAddress ? text : readId(text);
  if (which !== null) return which;
  throw new Problem(404, 'suppression_not_found', 'Suppression not found');
}

function named(id: string) {
  return { object: 'suppression', id: uuidOf(id) };
}

function uuidOf(id: string): string {
  return messageUuid(`msg_${id.slice('sup_'.length)}`);
}

function entryJson({ id, address, reason, evidence, createdAt }: SuppressionView) {
  const messageId = evidence?.messageId ?? null;
  return {
    id: uuidOf(id),
    email: address,
    origin: originOf(reason),
    source_id: messageId === null ? null : messageUuid(messageId),
    created_at: createdAt,
  };
}
