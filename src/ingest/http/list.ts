import { createHash } from 'node:crypto';
import type { ApiKey } from '../../domain/key.ts';
import { JSON_TYPE } from '../../http/exchange.ts';
import { Problem } from '../../http/problem.ts';
import type { ListPage, ListQuery, Views } from '../../store/views.ts';
import type { Call, Endpoint } from './call.ts';
import { type Cursor, formatCursor, LIST_PARAMETERS, listFilter } from './list-query.ts';
import { MAX_PAGE_CHARACTERS, nextLink, nextPage } from './paging.ts';
import { invalidQuery, parameterFault, readParameters } from './query.ts';
import { messageJson } from './record.ts';

/** `GET /api/v1/messages`: the caller's messages, newest first, page by page (contract §3.2). */

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
  const { query, digest } = readQuery(exchange.query, caller.key);
  const { texts, last } = shownOf(await views.list(query));
  const cursor = last === null ? undefined : formatCursor({ last, filter: digest });
  const { hasMore, nextCursor } = nextPage(cursor);
  const more = nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
  const body = `{"messages":[${texts.join(',')}],"hasMore":${hasMore}${more}}`;
  exchange.send(200, JSON_TYPE, body, nextLink(exchange.path, exchange.query, cursor));
}

/** As many messages as an answer may hold, one at least, as JSON; and where the next page starts, null for nowhere. */
function shownOf({ messages, next }: ListPage): {
  readonly texts: readonly string[];
  readonly last: string | null;
} {
  const texts: string[] = [];
  let characters = 0;
  let last: string | null = null;
  for (const message of messages) {
    const text = JSON.stringify(messageJson(message));
    characters += text.length;
    if (last !== null && characters > MAX_PAGE_CHARACTERS) return { texts, last };
    texts.push(text);
    last = message.id;
  }
  return { texts, last: next };
}

/** The query, and the digest of its filter. Throws 400 with every faulty parameter, 403 without the scope for `all`. */
function readQuery(parameters: URLSearchParams, key: ApiKey): { query: ListQuery; digest: string } {
  const { limit, status, all, cursor, ...rest } = readParameters(parameters, LIST_PARAMETERS);
  if (all && !key.scopes.includes('messages:read_all'))
    throw new Problem(403, 'scope_missing', 'all=true needs a key with the scope messages:read_all.');
  const owner = all ? 'all' : { keyId: key.id };
  const filter = { owner, statuses: [...new Set(status)].sort(), filter: listFilter(rest) } as const;
  const digest = digestOf(filter);
  return { query: { ...filter, before: startOf(cursor, digest), limit }, digest };
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
