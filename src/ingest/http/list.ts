import { createHash } from 'node:crypto';
import { MESSAGE_STATUSES, type MessageStatus } from '../../domain/delivery.ts';
import type { ApiKey } from '../../domain/key.ts';
import { Problem } from '../../http/problem.ts';
import { isMessageId } from '../../lib/id.ts';
import type { ListQuery, Views } from '../../store/views.ts';
import type { Call, Endpoint } from './call.ts';
import { parameterFault, parameterFaults, refuseQuery } from './query.ts';
import { messageJson } from './record.ts';

/** `GET /api/v1/messages`: the caller's messages, newest first, page by page (contract §3.2). */

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;
const PARAMETERS = { single: ['limit', 'cursor', 'all'], repeatable: ['status'] };

/** The endpoint over `views`. */
export function listEndpoint(views: Pick<Views, 'list'>): Endpoint {
  return {
    scopes: ['messages:read', 'messages:read_all'],
    window: 'read',
    scheme: 'bearer',
    handle: (call) => list(call, views),
  };
}

async function list({ exchange, caller }: Call, views: Pick<Views, 'list'>): Promise<void> {
  const query = readQuery(exchange.query, caller.key);
  const page = await views.list(query);
  const nextCursor = page.next === null ? undefined : encodeCursor(page.next, query);
  const body = { messages: page.messages.map(messageJson), hasMore: nextCursor !== undefined, nextCursor };
  exchange.json(
    200,
    body,
    nextCursor === undefined ? {} : { Link: nextLink(exchange.path, exchange.query, nextCursor) },
  );
}

/** Reads the query's parameters; throws 400 with every faulty one, 403 when the scope for `all` is missing. */
function readQuery(parameters: URLSearchParams, key: ApiKey): ListQuery {
  const faults = parameterFaults(parameters, PARAMETERS);
  const fault = (name: string, code: string, detail: string) =>
    faults.push(parameterFault(name, code, detail));
  const limit = readLimit(parameters.get('limit'));
  if (limit === null) fault('limit', 'out_of_range', `Must be an integer from 1 to ${MAX_LIMIT}.`);
  const statuses = parameters.getAll('status').filter(isStatus);
  if (statuses.length < parameters.getAll('status').length)
    fault('status', 'unknown_status', `Must be one of ${MESSAGE_STATUSES.join(', ')}.`);
  const all = parameters.get('all') ?? 'false';
  if (all !== 'true' && all !== 'false') fault('all', 'type', 'Must be true or false.');
  const filter = {
    owner: all === 'true' ? 'all' : { keyId: key.id },
    statuses: [...new Set(statuses)].sort(),
  } as const;
  const before = decodeCursor(parameters.get('cursor'), filter);
  if (before === undefined)
    fault('cursor', 'bad_cursor', 'Is not a cursor of this list; give it with the parameters it came from.');
  refuseQuery(faults);
  if (all === 'true' && !key.scopes.includes('messages:read_all'))
    throw new Problem(403, 'scope_missing', 'all=true needs a key with the scope messages:read_all.');
  return { ...filter, before: before ?? null, limit: limit ?? DEFAULT_LIMIT };
}

type Filter = Pick<ListQuery, 'owner' | 'statuses'>;

function readLimit(text: string | null): number | null {
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= MAX_LIMIT ? limit : null;
}

function isStatus(text: string): text is MessageStatus {
  return (MESSAGE_STATUSES as readonly string[]).includes(text);
}

/** A cursor is where the page ended and a digest of the filter, which it is bound to. */
function encodeCursor(last: string, filter: Filter): string {
  return Buffer.from(`${last}.${filterDigest(filter)}`).toString('base64url');
}

/** The id a cursor stands at; null when there is no cursor, undefined when it is none of this filter's. */
function decodeCursor(cursor: string | null, filter: Filter): string | null | undefined {
  if (cursor === null) return null;
  const last = Buffer.from(cursor, 'base64url').toString('latin1').split('.', 1)[0] ?? '';
  return isMessageId(last) && encodeCursor(last, filter) === cursor ? last : undefined;
}

function filterDigest({ owner, statuses }: Filter): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, statuses]))
    .digest('base64url')
    .slice(0, 16);
}

function nextLink(path: string, parameters: URLSearchParams, cursor: string): string {
  const next = new URLSearchParams(parameters);
  next.set('cursor', cursor);
  return `<${path}?${next}>; rel="next"`;
}
