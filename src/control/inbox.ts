import { addressKey, parseAddress } from '../domain/mailbox.ts';
import type { Recipient } from '../domain/message.ts';
import { parseQuery } from '../domain/query.ts';
import { INBOX } from '../domain/relay.ts';
import { createTokenSource, isMessageId } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import type { InboxOperations, InboxPage } from '../operations/inbox.ts';
import type { RequestOf } from '../operations/table.ts';
import { type FoundPage, type ListPage, type ListQuery, UNFILTERED } from '../store/views.ts';
import type { LocalDeps } from './deps.ts';
import { foundMessages } from './found-mail.ts';
import { sendAgain } from './submitting.ts';

/** Most captured messages removed by one call. */
const DELETED_AT_ONCE = 500;

/** What the operations need. */
type InboxDeps = Pick<
  LocalDeps,
  'views' | 'keyring' | 'acts' | 'spool' | 'intake' | 'queue' | 'resolution' | 'clock' | 'random'
>;

/** See {@link InboxOperations}. */
export function inboxOperations(deps: InboxDeps): InboxOperations {
  const nextToken = createTokenSource(deps.clock, deps.random);
  return {
    inbox: (request) => inbox(request, deps),
    deleteCaptured: (request) => deleteCaptured(request, deps),
    releaseCaptured: (request) => release(request, nextToken(), deps),
  };
}

async function inbox(request: RequestOf<'inbox'>, deps: InboxDeps): Promise<InboxPage> {
  const { views, clock } = deps;
  if (request.before !== null && !isMessageId(request.before))
    throw new OperationError('invalid', 'before: must be the next of a page.');
  const keyId = await keyIdOf(request.key, deps);
  const { page, notes } = await find(request, keyId, deps);
  const figures = await views.figures(clock.wall());
  // A message found by its words may have been removed since.
  const kept = page.messages.filter(({ content }) => content !== null);
  return {
    messages: await foundMessages(kept, deps),
    next: page.next,
    notes,
    bytes: figures.capturedBytes,
    maxBytes: deps.resolution().config.retention.capturedMaxBytes,
  };
}

/** Without a query by the inbox's own index; otherwise like any search. */
async function find(
  { query, box = null, limit, before }: RequestOf<'inbox'>,
  keyId: string | null,
  { views, clock }: InboxDeps,
): Promise<{ readonly page: ListPage | FoundPage; readonly notes: readonly string[] }> {
  if (query.trim() === '') {
    return { page: await views.list({ ...capturedOf(keyId, box), before, limit }), notes: [] };
  }
  const { query: parsed, notes } = parseQuery(query, clock.wall());
  const terms = box === null ? parsed.terms : [...parsed.terms, { kind: 'box', box, not: false } as const];
  const captured = { ...parsed, terms, captured: true, keys: keyId === null ? null : [keyId] };
  return { page: await views.search({ query: captured, after: null, before, limit }), notes };
}

/** Captured mail of a key, or of all; in a box, or in any. */
function capturedOf(keyId: string | null, box: string | null): Omit<ListQuery, 'before' | 'limit'> {
  return {
    owner: keyId === null ? 'all' : { keyId },
    statuses: [],
    filter: { ...UNFILTERED, captured: true, ...(box !== null && { box }) },
  };
}

/** Throws `not_found`. */
async function keyIdOf(key: string | null, { keyring }: InboxDeps): Promise<string | null> {
  if (key === null) return null;
  const found = (await keyring.list()).find(({ id, name }) => id === key || name === key);
  if (found === undefined) throw new OperationError('not_found', `There is no key ${key}.`);
  return found.id;
}

async function deleteCaptured(
  { ids, key, box = null, upTo = null }: RequestOf<'deleteCaptured'>,
  deps: InboxDeps,
): Promise<{ readonly deleted: number; readonly more: boolean }> {
  if (ids !== null) return { deleted: await deps.acts.discard(ids), more: false };
  const keyId = await keyIdOf(key, deps);
  // The first id that sorts after it.
  const before = upTo === null ? null : `${upTo}!`;
  const page = await deps.views.list({ ...capturedOf(keyId, box), before, limit: DELETED_AT_ONCE });
  const deleted = await deps.acts.discard(page.messages.map(({ id }) => id));
  return { deleted, more: page.next !== null && deleted > 0 };
}

async function release(
  { id, relay, to = null }: RequestOf<'releaseCaptured'>,
  token: string,
  deps: InboxDeps,
): Promise<{ readonly id: string }> {
  const detail = isMessageId(id) ? await deps.views.message(id) : null;
  if (detail === null) throw new OperationError('not_found', `There is no message ${id}.`);
  if (detail.message.outcome !== 'captured')
    throw new OperationError('refused', 'Only what the local inbox captured can be released.');
  const found = deps.resolution().config.relays.find(({ name }) => name === relay);
  if (found === undefined) throw new OperationError('not_found', `There is no relay ${relay}.`);
  if (found.name === INBOX)
    throw new OperationError('invalid', 'The inbox has already captured it: name a relay that sends.');
  if (found.disabled)
    throw new OperationError('refused', `The relay ${relay} is disabled: mail for it would only wait.`);
  const recipients = to === null ? detail.recipients : recipientsOf(to);
  return await sendAgain({ ...detail, recipients }, token, relay, deps);
}

/** Each address once. Throws `invalid`. */
function recipientsOf(to: readonly string[]): readonly Pick<Recipient, 'address' | 'kind'>[] {
  const found = new Map<string, Pick<Recipient, 'address' | 'kind'>>();
  for (const text of to) {
    const parsed = parseAddress(text);
    if (!parsed.ok) throw new OperationError('invalid', `to: ${parsed.detail}`);
    const { address } = parsed.value;
    found.set(addressKey(address), { address, kind: 'to' });
  }
  return [...found.values()];
}
