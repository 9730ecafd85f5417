import { BAD_CURSOR, placeIn, requestsJson } from '../ingest/http/requests.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOperations, RequestsPage } from '../operations/requests.ts';
import type { RequestOf } from '../operations/table.ts';
import type { RequestQuery } from '../store/request-log.ts';
import type { LocalDeps } from './deps.ts';
import { findKey } from './keys.ts';
import { faulty, timeIn } from './suppression-view.ts';

/** What they need. */
export type RequestDeps = Pick<LocalDeps, 'keyring' | 'requests'>;

/** The operations on the log of requests. A file of its own: it is read, and no key is changed. */
export function requestOperations(deps: RequestDeps): RequestOperations {
  return { requestLog: (request) => requestLog(request, deps) };
}

async function requestLog(request: RequestOf<'requestLog'>, deps: RequestDeps): Promise<RequestsPage> {
  const { key = null, unknown = false, only = null, limit = 50, cursor = null } = request;
  if (key !== null && unknown)
    throw new OperationError('invalid', 'Either a key or unknown: such requests named no key that is known.');
  const after = cursor === null ? null : placeIn(cursor);
  if (cursor !== null && after === null) throw faulty('/cursor', 'bad_cursor', BAD_CURSOR);
  const query: RequestQuery = {
    of: unknown ? { keyId: null } : key === null ? null : { keyId: (await findKey(key, deps)).id },
    refused: only === null ? null : only === 'refused',
    since: timeIn(request.since ?? null, '/since') ?? 0,
    until: timeIn(request.until ?? null, '/until'),
    after,
    limit,
  };
  const [page, keys] = await Promise.all([deps.requests.requests(query), deps.keyring.list()]);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  // Keys are never removed; an id is better than nothing where that was done by hand.
  return requestsJson(page, (id) => names.get(id) ?? id);
}
