import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { Hint } from '../../../../src/dashboard/contract.ts';
import { call } from '../../api.ts';
import { useHints } from '../../live.ts';
import { toast } from '../../parts/toast.tsx';
import { useCall } from '../../queries.ts';
import type { Attempt, Story } from './timeline.ts';

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

/** Attempts behind those that come with the story, fetched page by page. */
function useMoreAttempts(id: string, story: Story | undefined) {
  const [fetched, setFetched] = useState<{
    readonly id: string;
    readonly attempts: readonly Attempt[];
    readonly next: string | null;
  } | null>(null);
  const [loading, setLoading] = useState(false);
  const mine = fetched?.id === id ? fetched : null;
  const own = story?.attempts.at(-1)?.number ?? 0;
  const attempts = useMemo(() => mine?.attempts.filter(({ number }) => number > own) ?? [], [mine, own]);
  const cursor = mine === null ? String(own) : mine.next;
  const load = () => {
    if (cursor === null || loading) return;
    setLoading(true);
    call('attempts', { id, cursor })
      .then((page) =>
        setFetched({
          id,
          attempts: [...(mine?.attempts ?? []), ...page.attempts],
          next: page.hasMore ? (page.nextCursor ?? null) : null,
        }),
      )
      .catch((error: unknown) => toast.error(error instanceof Error ? error.message : String(error)))
      .finally(() => setLoading(false));
  };
  const has = (story?.moreAttempts ?? false) && (mine === null || mine.next !== null);
  return { attempts, has, loading, load };
}
