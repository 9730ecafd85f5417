import { fromJson } from '../columns.ts';
import {
  type Erasure,
  type ErasureProgress,
  type Erasures,
  MAX_ERASURES,
  MAX_UNFINISHED,
  mayGoOn,
} from '../erasing.ts';
import { Columns, onPostgres, sql } from './sql.ts';
import { alone, rows, run, type Subject, send, type Work } from './work.ts';

/** People to be erased, as rows; the work on everything else is in `erasing.ts`. */

interface ErasureRow extends Omit<Erasure, 'progress'> {
  readonly progress: string;
}

const ERASURE = new Columns<ErasureRow>({
  id: sql`id`,
  pseudonym: sql`pseudonym`,
  sealed: sql`sealed`,
  requestedAt: sql`requested_at`,
  finishedAt: sql`finished_at`,
  progress: sql`progress`,
});

function erasureOf(row: ErasureRow): Erasure {
  return { ...row, progress: fromJson<ErasureProgress>(row.progress) };
}

/** How far an erasure has come, which nobody else changes until the transaction ends; null: it is finished. */
export function* progressOf(id: string): Work<ErasureProgress | null> {
  const [row] = yield* rows<Pick<ErasureRow, 'progress'>>`SELECT progress FROM erasures
    WHERE id = ${id} AND finished_at IS NULL ${onPostgres(sql`FOR UPDATE`)}`;
  return row === undefined ? null : fromJson<ErasureProgress>(row.progress);
}

/** The erasures. */
export const ERASURES: Subject<Erasures> = {
  reads: { erasures: 'statement', erasure: 'statement', nextErasure: 'statement' },
  verbs: {
    *erasures(limit) {
      const found = yield* rows<ErasureRow>`
        SELECT ${ERASURE.selected} FROM erasures ORDER BY id DESC LIMIT ${limit}`;
      return found.map(erasureOf);
    },
    *erasure(id) {
      const [row] = yield* rows<ErasureRow>`SELECT ${ERASURE.selected} FROM erasures WHERE id = ${id}`;
      return row === undefined ? null : erasureOf(row);
    },
    *nextErasure(now) {
      const found = yield* rows<ErasureRow>`
        SELECT ${ERASURE.selected} FROM erasures WHERE finished_at IS NULL ORDER BY id`;
      // Those that wait for something let others pass.
      const ready = found
        .map(erasureOf)
        .filter(({ progress }) => mayGoOn(progress, now))
        .sort((a, b) => a.progress.notBefore - b.progress.notBefore);
      return ready[0] ?? null;
    },
    *addErasure(erasure) {
      yield* alone(sql`erasures`);
      const unfinished = yield* rows<Pick<ErasureRow, 'pseudonym'>>`
        SELECT pseudonym FROM erasures WHERE finished_at IS NULL`;
      if (unfinished.some(({ pseudonym }) => pseudonym === erasure.pseudonym)) return 'under_way';
      if (unfinished.length >= MAX_UNFINISHED) return 'full';
      const row = { ...erasure, progress: JSON.stringify(erasure.progress) };
      yield* send`INSERT INTO erasures (${ERASURE.names}) VALUES (${ERASURE.values(row)})`;
      yield* send`DELETE FROM erasures WHERE finished_at IS NOT NULL AND id NOT IN
        (SELECT id FROM erasures ORDER BY id DESC LIMIT ${MAX_ERASURES})`;
      return 'added';
    },
    *advanceErasure(id, before, progress, finishedAt) {
      const end = finishedAt === undefined ? sql`` : sql`, sealed = NULL, finished_at = ${finishedAt}`;
      const changed = yield* run`UPDATE erasures SET progress = ${JSON.stringify(progress)} ${end}
        WHERE id = ${id} AND finished_at IS NULL AND progress = ${JSON.stringify(before)}`;
      return changed > 0;
    },
  },
};
