import type { SegmentUse } from '../relocating.ts';
import type { Books } from './books.ts';

/** Builds the verbs about segments' live counts. */
export function segmentVerbs(books: Books) {
  const live = books.db.prepare<[segment: number], [live: number]>(
    'SELECT live FROM segments WHERE segment = ?',
  );
  const use = books.db.prepare<[segment: number], [live: number, bytes: number]>(
    'SELECT live, bytes FROM segments WHERE segment = ?',
  );
  const forget = books.db.prepare<[segment: number]>('DELETE FROM segments WHERE segment = ? AND live = 0');
  return {
    liveSegments: (segments: readonly number[]): Map<number, number> => {
      books.tallies.flush();
      return new Map(segments.map((segment) => [segment, live.get(segment)?.[0] ?? 0]));
    },
    segmentUse: (segments: readonly number[]): Map<number, SegmentUse> => {
      books.tallies.flush();
      return new Map(
        segments.map((segment) => {
          const [live, bytes] = use.get(segment) ?? [0, 0];
          return [segment, { live, bytes }];
        }),
      );
    },
    forgetSegments: (segments: readonly number[]): void => {
      books.tallies.flush();
      for (const segment of segments) forget.run(segment);
    },
  };
}
