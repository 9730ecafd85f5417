import { isRefused } from '../../domain/request-line.ts';
import { fromJson } from '../columns.ts';
import type { RequestLog, RequestPage, RequestPlace, RequestQuery, StoredRequest } from '../request-log.ts';
import { Columns, type Flag, onPostgres, onSqlite, type Sql, sql } from './sql.ts';
import { rows, run, type Subject, send } from './work.ts';

/** Lines of the request log, as rows. */

interface Row extends Omit<StoredRequest, 'keyId' | 'sourceAddress' | 'session' | 'number'> {
  /** Empty: no known key's. A null would be in no order. */
  readonly keyId: string;
  /** Empty: none. */
  readonly sourceAddress: string;
  /** JSON; null: a request to the API. */
  readonly session: string | null;
  readonly refused: boolean;
}

const LINE = new Columns<Row>({
  at: sql`at`,
  keyId: sql`key_id`,
  sourceAddress: sql`source_address`,
  refused: sql`refused`,
  method: sql`method`,
  path: sql`path`,
  status: sql`status`,
  code: sql`code`,
  faults: sql`faults`,
  durationMs: sql`duration_ms`,
  requestId: sql`request_id`,
  weight: sql`weight`,
  session: sql`session`,
});

type Found = Omit<Row, 'refused'> & { readonly refused: Flag; readonly number: number };

function lineOf({ refused: _, keyId, sourceAddress, session, ...line }: Found): StoredRequest {
  return {
    ...line,
    keyId: keyId === '' ? null : keyId,
    sourceAddress: sourceAddress === '' ? null : sourceAddress,
    session: session === null ? null : fromJson<StoredRequest['session']>(session),
  };
}

const BY_KEY_AND_KIND = sql`INDEXED BY request_log_by_key_and_kind`;

/** Each combination is a range of an index, in its order. Of two that could do, SQLite may take the worse. */
function indexFor({ of, refused, sourceAddress }: RequestQuery): Sql {
  if (sourceAddress !== null) return onSqlite(sql`INDEXED BY request_log_by_source`);
  return of === null || refused === null ? sql`` : onSqlite(BY_KEY_AND_KIND);
}

function rangeOf({ of, refused, since, until, after, sourceAddress }: RequestQuery): Sql {
  const ofSource = sourceAddress === null ? sql`` : sql`AND source_address = ${sourceAddress}`;
  const ofKey = of === null || sourceAddress !== null ? sql`` : sql`AND key_id = ${of.keyId ?? ''}`;
  const ofKind = refused === null || sourceAddress !== null ? sql`` : sql`AND refused = ${refused}`;
  const behind = after === null ? sql`` : sql`AND (at, number) < (${after.at}, ${after.number})`;
  return sql`at >= ${since} AND at < ${until ?? Number.MAX_SAFE_INTEGER} ${ofSource} ${ofKey} ${ofKind} ${behind}`;
}

/** What no index has; null: nothing. */
function filterOf({ of, refused, kind, sourceAddress, messageId }: RequestQuery): Sql | null {
  const conditions: Sql[] = [];
  if (sourceAddress !== null && of !== null) conditions.push(sql`"keyId" = ${of.keyId ?? ''}`);
  if (sourceAddress !== null && refused !== null) conditions.push(sql`refused = ${refused}`);
  if (kind !== null) conditions.push(kind === 'api' ? sql`session IS NULL` : sql`session IS NOT NULL`);
  if (messageId !== null)
    conditions.push(
      sql`${onSqlite(sql`instr(session, ${messageId})`)}${onPostgres(sql`strpos(session, ${messageId})`)} > 0`,
    );
  if (conditions.length === 0) return null;
  return conditions.reduce((all, one) => sql`${all} AND ${one}`);
}

/** `last`: of what was looked at, if there is more. */
function pageOf(found: readonly Found[], limit: number, last: RequestPlace | null): RequestPage {
  const lines = found.slice(0, limit).map(lineOf);
  const shown = lines.at(-1);
  const next = found.length > limit && shown !== undefined ? { at: shown.at, number: shown.number } : last;
  return { lines, next };
}

/** See {@link RequestLog}. */
export const REQUEST_LOG: Subject<RequestLog> = {
  reads: { requests: 'snapshot', keysOfRequests: 'statement' },
  verbs: {
    *writeRequests(lines) {
      for (const line of lines) {
        const row = {
          ...line,
          keyId: line.keyId ?? '',
          sourceAddress: line.sourceAddress ?? '',
          session: line.session === null ? null : JSON.stringify(line.session),
          refused: isRefused(line),
        };
        yield* send`INSERT INTO request_log (${LINE.names}) VALUES (${LINE.values(row)})`;
      }
    },
    *requests(query) {
      const { limit, looksAt } = query;
      const looked = sql`SELECT number, ${LINE.selected} FROM request_log ${indexFor(query)}
        WHERE ${rangeOf(query)} ORDER BY at DESC, number DESC`;
      const filter = filterOf(query);
      if (filter === null) return pageOf(yield* rows<Found>`${looked} LIMIT ${limit + 1}`, limit, null);
      const found = yield* rows<Found>`SELECT * FROM (${looked} LIMIT ${looksAt}) AS looked
        WHERE ${filter} ORDER BY at DESC, number DESC LIMIT ${limit + 1}`;
      if (found.length > limit) return pageOf(found, limit, null);
      const [last] = yield* rows<RequestPlace>`SELECT at, number FROM request_log ${indexFor(query)}
        WHERE ${rangeOf(query)} ORDER BY at DESC, number DESC LIMIT 1 OFFSET ${looksAt - 1}`;
      return pageOf(found, limit, last ?? null);
    },
    *keysOfRequests() {
      // Jumps from key to key: a DISTINCT would walk the whole index.
      const keys = yield* rows<{ keyId: string }>`WITH RECURSIVE known (id) AS (
          SELECT min(key_id) FROM request_log
          UNION ALL
          SELECT (SELECT min(key_id) FROM request_log WHERE key_id > known.id) FROM known
          WHERE known.id IS NOT NULL
        ) SELECT id AS "keyId" FROM known WHERE id IS NOT NULL`;
      return keys.map(({ keyId }) => (keyId === '' ? null : keyId));
    },
    *trimRequests(keyId, keep, limit) {
      let trimmed = 0;
      for (const refused of [true, false])
        trimmed += yield* run`DELETE FROM request_log WHERE number IN (
          SELECT number FROM request_log ${onSqlite(BY_KEY_AND_KIND)}
          WHERE key_id = ${keyId ?? ''} AND refused = ${refused}
          ORDER BY at DESC, number DESC LIMIT ${limit - trimmed} OFFSET ${keep})`;
      return trimmed;
    },
    *forgetRequests(before, keep, limit) {
      const old = yield* run`DELETE FROM request_log WHERE number IN (
        SELECT number FROM request_log WHERE at < ${before} ORDER BY at, number LIMIT ${limit})`;
      return (
        old +
        (yield* run`DELETE FROM request_log WHERE number IN (
          SELECT number FROM request_log WHERE number <= (SELECT max(number) FROM request_log) - ${keep}
          ORDER BY number LIMIT ${limit - old})`)
      );
    },
  },
};
