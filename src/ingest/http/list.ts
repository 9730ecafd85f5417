import { createHash } from 'node:crypto';
import type { ApiKey } from '../../domain/key.ts';
import { Problem } from '../../http/problem.ts';
import type { ListQuery, Views } from '../../store/views.ts';
import type { Outlook } from '../outlook.ts';
import type { Call, Endpoint } from './call.ts';
import { type Cursor, formatCursor, LIST_PARAMETERS, listFilter } from './list-query.ts';
import { nextLink, nextPage } from './paging.ts';
import { invalidQuery, parameterFault, readParameters } from './query.ts';
import { messagesJson } from './record.ts';

/** `GET /api/v1/messages`: the caller's messages, newest first, page by page (contract §3.2). */

/** What the endpoint needs. */
export interface ListDeps {
  readonly views: Pick<Views, 'list'>;
  readonly outlook: Outlook;
}

/** The endpoint. */
export function listEndpoint(deps: ListDeps): Endpoint {
  return {
    scopes: ['messages:read', 'messages:read_all'],
    window: 'read',
    scheme: 'bearer',
    handle: (call) => list(call, deps),
  };
}

async function list({ exchange, caller }: Call, { views, outlook }: ListDeps): Promise<void> {
  const { query, digest } = readQuery(exchange.query, caller.key);
  const page = await views.list(query);
  const cursor = page.next === null ? undefined : formatCursor({ last: page.next, filter: digest });
  const body = { messages: await messagesJson(page.messages, outlook), ...nextPage(cursor) };
  exchange.json(200, body, nextLink(exchange.path, exchange.query, cursor));
}

/** The query, and the digest of its filter. Throws 400 with every faulty parameter, 403 without the scope for `all`. */
function readQuery(parameters: URLSearchParams, key: ApiKey): { query: ListQuery; digest: string } {
  const { limit, status, all, cursor, ...rest } = readParameters(parameters, LIST_PARAMETERS);
  if (all && !key.scopes.includes('messages:read_all'))
    throw new Problem(403, 'scope_missing', 'all=true needs a key with the scope messages:read_all.');
  const owner = all ? 'all' : { keyId: key.id };
  const filter = { owner, statuses: [...new Set(status)].sort(), filter: listFilter(rest) } as const;
  const digest = digestOf(filter);
  return { query: { ...filter, asker: key.id, before: startOf(cursor, digest), limit }, digest };
}

/** Where a page starts. Throws 400 for a cursor that another list gave. */
function startOf(cursor: Cursor | undefined, digest: string): string | null {
  if (cursor === undefined) return null;
  if (cursor.filter === digest) return cursor.last;
  const detail =
    'Must be given with the same key and parameters as the page it came from (limit may differ); without cursor the list begins anew.';
  throw invalidQuery([parameterFault('cursor', 'bad_cursor', detail)]);
}

function digestOf(filter: Pick<ListQuery, 'owner' | 'statuses' | 'filter'>): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 16);
}
