import {
  BAD_CURSOR,
  explainedOverSmtp,
  MAX_LOOKED_AT,
  pageJson,
  placeIn,
  requestJson,
} from '../ingest/http/requests.ts';
import { normaliseAddress } from '../lib/network.ts';
import { OperationError } from '../operations/call.ts';
import type { RequestOperations, RequestsPage } from '../operations/requests.ts';
import type { RequestOf } from '../operations/table.ts';
import type { RequestQuery, StoredRequest } from '../store/request-log.ts';
import type { LocalDeps } from './deps.ts';
import { findKey } from './keys.ts';
import { settingOf } from './settings.ts';
import { faulty, timeIn } from './suppression-view.ts';

/** What they need. */
export type RequestDeps = Pick<LocalDeps, 'keyring' | 'requests'>;

/** The operations on the log of requests. A file of its own: it is read, and no key is changed. */
export function requestOperations(deps: RequestDeps): RequestOperations {
  return { requestLog: (request) => requestLog(request, deps) };
}

/** Named sources own their mail under such a name. */
const NAMED_SOURCE = /^source:./;

async function requestLog(request: RequestOf<'requestLog'>, deps: RequestDeps): Promise<RequestsPage> {
  const { key = null, unknown = false, only = null, kind = null, limit = 50, cursor = null } = request;
  const { source = null, message = null } = request;
  if (key !== null && unknown)
    throw new OperationError('invalid', 'Either a key or unknown: such requests named no key that is known.');
  const after = cursor === null ? null : placeIn(cursor);
  if (cursor !== null && after === null) throw faulty('/cursor', 'bad_cursor', BAD_CURSOR);
  const query: RequestQuery = {
    of: unknown ? { keyId: null } : key === null ? null : { keyId: await ownerIn(key, deps) },
    refused: only === null ? null : only === 'refused',
    kind,
    sourceAddress: source === null ? null : normaliseAddress(source.trim()),
    messageId: message,
    since: timeIn(request.since ?? null, '/since') ?? 0,
    until: timeIn(request.until ?? null, '/until'),
    after,
    limit,
    looksAt: MAX_LOOKED_AT,
  };
  const [page, keys] = await Promise.all([deps.requests.requests(query), deps.keyring.list()]);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  // Keys are never removed; an id is better than nothing where that was done by hand. Named sources have no other name.
  const nameOf = (keyId: string | null) => (keyId === null ? null : (names.get(keyId) ?? keyId));
  return pageJson(
    page.lines.map((line) => ({ ...requestJson(line, nameOf(line.keyId)), ...shownBeside(line) })),
    page.next,
  );
}

async function ownerIn(key: string, deps: RequestDeps): Promise<string> {
  return NAMED_SOURCE.test(key) ? key : (await findKey(key, deps)).id;
}

/** What the API does not tell of a line. */
function shownBeside({ code, session, sourceAddress }: StoredRequest) {
  return {
    kind: session === null ? ('api' as const) : ('smtp' as const),
    sourceAddress,
    setting:
      code === null || sourceAddress === null ? null : settingOf(code, session === null ? 'api' : null),
    session:
      session === null
        ? null
        : {
            ...session,
            refusals: session.refusals.map((refusal) => ({ ...refusal, ...explainedOverSmtp(refusal.code) })),
          },
  };
}
