import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { Hint } from '../../../../src/dashboard/contract.ts';
import { useHints } from '../../live.ts';
import { useCall, usePages } from '../../queries.ts';
import type { Story } from './timeline.ts';

/** All that is known of a message, kept up to date; with further attempts when they are asked for. */
export function useStory(id: string) {
  const client = useQueryClient();
  const [isFinal, setFinal] = useState(false);
  const query = useCall('messageStory', { id }, { topics: isFinal ? [] : ['messages', 'queue', 'relays'] });
  const status = query.data?.record.status;
  const known = status === 'delivered' || status === 'failed';
  if (known !== isFinal) setFinal(known);
  // What is final may be retried, or come back: hints that name it are always meant.
  useHints(
    useCallback(
      ({ ids }: Hint) => {
        if (ids?.includes(id)) void client.invalidateQueries({ queryKey: ['messageStory', { id }] });
      },
      [client, id],
    ),
  );
  const more = useMoreAttempts(id, query.data);
  const story = useMemo(
    () => query.data && { ...query.data, attempts: [...query.data.attempts, ...more.attempts] },
    [query.data, more.attempts],
  );
  return { query, story, more };
}

/** Attempts behind those that come with the story, fetched page by page once they are asked for. */
function useMoreAttempts(id: string, story: Story | undefined) {
  const [asked, setAsked] = useState<string | null>(null);
  const own = String(story?.attempts.at(-1)?.number ?? 0);
  const { rows, query, more } = usePages('attempts', {
    request: (cursor: string | null) => ({ id, cursor: cursor ?? own }),
    rows: ({ attempts }) => attempts,
    next: ({ hasMore, nextCursor }) => (hasMore ? (nextCursor ?? null) : null),
    enabled: asked === id,
  });
  return {
    attempts: rows,
    has: (story?.moreAttempts ?? false) && (query.data === undefined || more.has),
    loading: query.isFetching,
    load: asked === id ? more.load : () => setAsked(id),
  };
}
