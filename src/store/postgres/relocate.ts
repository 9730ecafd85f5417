import type { Database } from '../../postgres/database.ts';
import type { ContentPlace, Relocation, SegmentUse } from '../relocating.ts';
import type { Work } from './work.ts';

/** The verb `relocatable`. */
export async function relocatable(database: Database, places: readonly ContentPlace[]): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (const { messageId, content } of places) {
    const rows = await database.rows(FIND, [messageId, content.segment, content.offset, content.length]);
    answers.push(rows.length > 0);
  }
  return answers;
}

/** The verb `relocate`. Messages are locked in the order of their ids, as everywhere. */
export async function relocate({ db, tallies }: Work, batch: readonly Relocation[]): Promise<boolean[]> {
  const moved = new Set<Relocation>();
  for (const relocation of [...batch].sort((a, b) => (a.messageId < b.messageId ? -1 : 1))) {
    const { messageId, content, to } = relocation;
    const place = [messageId, content.segment, content.offset, content.length];
    if ((await db.run(MOVE, [...place, to.segment, to.offset])) === 0) continue;
    tallies.segment(content.segment, -1, -content.length);
    tallies.segment(to.segment, 1, content.length);
    moved.add(relocation);
  }
  return batch.map((relocation) => moved.has(relocation));
}

/** The verb `segmentUse`. */
export async function segmentUse(
  database: Database,
  segments: readonly number[],
): Promise<Map<number, SegmentUse>> {
  const rows = await database.rows<SegmentUse & { readonly segment: number }>(USE, [segments]);
  const found = new Map(rows.map(({ segment, live, bytes }) => [segment, { live, bytes }]));
  return new Map(segments.map((segment) => [segment, found.get(segment) ?? { live: 0, bytes: 0 }]));
}

const IS_THERE = 'id = $1 AND segment = $2 AND "offset" = $3 AND length = $4 AND processing = 0';
const FIND = `SELECT 1 AS found FROM messages WHERE ${IS_THERE}`;
const MOVE = `UPDATE messages SET segment = $5, "offset" = $6 WHERE ${IS_THERE}`;
const USE = 'SELECT segment, live, bytes FROM segments WHERE segment = ANY($1::bigint[])';
