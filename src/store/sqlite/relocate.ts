import type { ContentPlace, Relocation } from '../relocating.ts';
import type { Stamp } from '../store.ts';
import type { Books } from './books.ts';
import type { Driver } from './driver.ts';

/** Builds the verbs about where contents lie. */
export function relocateVerbs(books: Books) {
  const sql = prepareRelocate(books.db);
  return {
    relocatable: (places: readonly ContentPlace[]): boolean[] =>
      places.map(({ messageId, content: { segment, offset, length } }) =>
        Boolean(sql.find.get(messageId, segment, offset, length)),
      ),
    relocate: (batch: readonly Relocation[], _at: Stamp): boolean[] =>
      batch.map(({ messageId, content, to }) => {
        const { segment, offset, length } = content;
        if (sql.move.run(to.segment, to.offset, messageId, segment, offset, length) === 0) return false;
        books.tallies.segment(segment, -1, -length);
        books.tallies.segment(to.segment, 1, length);
        return true;
      }),
  };
}

/** While an attempt is under way it may read at the place it was leased with. */
const IS_THERE = 'id = ? AND segment = ? AND offset = ? AND length = ? AND processing = 0';

function prepareRelocate(db: Driver) {
  return {
    find: db.prepare<[id: string, segment: number, offset: number, length: number], [1]>(
      `SELECT 1 FROM messages WHERE ${IS_THERE}`,
    ),
    move: db.prepare<
      [toSegment: number, toOffset: number, id: string, segment: number, offset: number, length: number]
    >(`UPDATE messages SET segment = ?, offset = ? WHERE ${IS_THERE}`),
  };
}
