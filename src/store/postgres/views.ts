import type { Attempt, AttemptResult, Evidence } from '../../domain/attempt.ts';
import type { Database } from '../../postgres/database.ts';
import { IDEMPOTENCY_MS } from '../accepting.ts';
import { fromJson } from '../columns.ts';
import {
  type AttemptPage,
  type AttemptRange,
  MAX_EVIDENCE_BYTES,
  type MessageDetail,
  type Remembered,
  type Views,
} from '../views.ts';
import { counts, figures, lanes } from './figures.ts';
import { Lists } from './list.ts';
import { quotaUsed } from './quotas.ts';
import { readDetails } from './records.ts';
import { type ListLimits, Searches } from './search.ts';
import { ATTEMPTS, type AttemptRow } from './tables.ts';
import { waiting } from './waiting.ts';

/** The views over connections of their own: no reader waits for a writer. */
export function viewsOver(database: Database, limits: ListLimits): Views {
  const lists = new Lists(database, limits);
  const searches = new Searches(database, limits);
  return {
    message: (id) => message(database, id),
    list: (query) => lists.list(query),
    search: (query) => searches.search(query),
    countFound: (query) => searches.count(query),
    counts: (range) => counts(database, range),
    attempts: (id, range) => attempts(database, id, range),
    remembered: async (keyId, key, now) => {
      const [first] = await database.rows<Remembered>(REMEMBERED, [keyId, key, now - IDEMPOTENCY_MS]);
      if (first === undefined) return null;
      // Whoever is answered by it relies on it; another node may still be waiting for its flush.
      await database.flush();
      return first;
    },
    figures: (now) => database.inSnapshot((db) => figures(db, now)),
    lanes: (relay, limit) => lanes(database, relay, limit),
    quotaUsed: (day) => quotaUsed(database, day),
    waiting: (query) => database.inSnapshot((db) => waiting(db, query)),
    close: () => database.close(),
  };
}

async function message(database: Database, id: string): Promise<MessageDetail | null> {
  const [detail] = await readDetails(database, [id]);
  if (detail === undefined) return null;
  const { message, recipients, origin } = detail;
  return { message, recipients, origin };
}

/** No attempt is read whose evidence would not fit any more. */
async function attempts(
  database: Database,
  id: string,
  { after, limit }: AttemptRange,
): Promise<AttemptPage> {
  const rows = await database.rows<AttemptRow & { last: number }>(PAGE, [
    id,
    after,
    limit,
    MAX_EVIDENCE_BYTES,
  ]);
  const end = rows.at(-1);
  return {
    attempts: rows.map(attemptOf),
    next: end !== undefined && end.number < end.last ? end.number : null,
  };
}

function attemptOf({ startedAt, relay, evidence, results }: AttemptRow): Attempt {
  return {
    startedAt,
    relay,
    evidence: fromJson<Evidence>(evidence),
    results: fromJson<AttemptResult[]>(results),
  };
}

const REMEMBERED = 'SELECT id, hash FROM idempotency WHERE key_id = $1 AND idem_key = $2 AND created_at > $3';

// `earlier` is what the attempts before it on the page take; a length is known without reading the text.
const PAGE = `SELECT ${ATTEMPTS.columns}, last FROM (
    SELECT message, number, messages.attempts AS last,
      sum(octet_length(evidence) + octet_length(results)) OVER (ORDER BY number)
        - octet_length(evidence) - octet_length(results) AS earlier
    FROM attempts JOIN messages ON messages.id = message
    WHERE message = $1 AND number > $2 ORDER BY number LIMIT $3) AS page
  JOIN attempts USING (message, number) WHERE message = $1 AND attempts.message = $1 AND earlier < $4 ORDER BY number`;
