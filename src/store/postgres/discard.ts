import { BYTES_GAUGE } from '../counting.ts';
import type { MessageRow } from './tables.ts';
import type { Work } from './work.ts';

type KeptRow = Pick<MessageRow, 'id' | 'status' | 'segment' | 'length'>;

/** The verb `discard`. */
export async function discard({ db, tallies }: Work, ids: readonly string[]): Promise<boolean[]> {
  const rows: KeptRow[] = await db.rows(LOCK, [ids]);
  for (const { segment, length, status } of rows) {
    if (segment === null || length === null) continue;
    tallies.segment(segment, -1, -length);
    tallies.gauge(BYTES_GAUGE.captured, -length);
    if (status === 'failed') tallies.gauge('failed_kept', -1);
  }
  const found = new Set(rows.map(({ id }) => id));
  await db.run(DROP, [[...found]]);
  return ids.map((id) => found.delete(id));
}

const LOCK = `SELECT id, status, segment, length FROM messages
  WHERE id = ANY($1::text[]) AND kept = 'captured' ORDER BY id FOR UPDATE`;
const DROP = `UPDATE messages SET kept = 'gone', segment = NULL, "offset" = NULL, length = NULL
  WHERE id = ANY($1::text[]) AND kept = 'captured'`;
