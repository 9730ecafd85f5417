import { isRefused } from '../../domain/request-line.ts';
import type { RequestLog, StoredRequest } from '../request-log.ts';
import { Columns, type Flag, onSqlite, sql } from './sql.ts';
import { rows, run, type Subject, send } from './work.ts';

/** Lines of the request log, as rows. */

interface Row extends Omit<StoredRequest, 'keyId' | 'number'> {
  /** Empty: no known key's. A null would be in no order. */
  readonly keyId: string;
  readonly refused: boolean;
}

const LINE = new Columns<Row>({
  at: sql`at`,
  keyId: sql`key_id`,
  refused: sql`refused`,
  method: sql`method`,
  path: sql`path`,
  status: sql`status`,
  code: sql`code`,
  faults: sql`faults`,
  durationMs: sql`duration_ms`,
  requestId: sql`request_id`,
  weight: sql`weight`,
});

type Found = Omit<Row, 'refused'> & { readonly refused: Flag; readonly number: number };

function lineOf({ refused: _, keyId, ...line }: Found): StoredRequest {
  return { ...line, keyId: keyId === '' ? null : keyId };
}

const BY_KEY_AND_KIND = sql`INDEXED BY request_log_by_key_and_kind`;

/** See {@link RequestLog}. */
export const REQUEST_LOG: Subject<RequestLog> = {
  reads: { requests: 'statement', keysOfRequests: 'statement' },
  verbs: {
    *writeRequests(lines) {
      for (const line of lines) {
        const row = { ...line, keyId: line.keyId ?? '', refused: isRefused(line) };
        yield* send`INSERT INTO request_log (${LINE.names}) VALUES (${LINE.values(row)})`;
      }
    },
    *requests({ of, refused, since, until, after, limit }) {
      // Each combination is a range of an index, in its order. Of two that could do, SQLite may take the worse.
      const index = of === null || refused === null ? sql`` : onSqlite(BY_KEY_AND_KIND);
      const ofKey = of === null ? sql`` : sql`AND key_id = ${of.keyId ?? ''}`;
      const ofKind = refused === null ? sql`` : sql`AND refused = ${refused}`;
      const behind = after === null ? sql`` : sql`AND (at, number) < (${after.at}, ${after.number})`;
      const found = yield* rows<Found>`SELECT number, ${LINE.selected} FROM request_log ${index}
        WHERE at >= ${since} AND at < ${until ?? Number.MAX_SAFE_INTEGER} ${ofKey} ${ofKind} ${behind}
        ORDER BY at DESC, number DESC LIMIT ${limit + 1}`;
      const lines = found.slice(0, limit).map(lineOf);
      const last = lines.at(-1);
      const next = found.length > limit && last !== undefined ? { at: last.at, number: last.number } : null;
      return { lines, next };
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
