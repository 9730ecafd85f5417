import { useEffect } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { call } from '../../api.ts';
import { useCall } from '../../queries.ts';
import { useSteadyList } from '../messages/steady-list.ts';

/** A captured message of the list. */
export type Captured = ResultOf<'inbox'>['messages'][number];

const PAGE_ROWS = 50;

/**
 * Captured mail, the newest first. What comes in is put on top while the reader is there; further down the list keeps
 * still, and the newcomers are counted.
 */
export function useInbox(query: string, key: string | null, isAtTop: boolean) {
  const list = useSteadyList({
    name: 'inbox',
    asked: JSON.stringify([key, query]),
    topic: 'inbox',
    restless: true,
    fetchPage: (before, signal) => call('inbox', { query, key, limit: PAGE_ROWS, before }, signal),
  });
  const newest = useCall(
    'inbox',
    { query, key, limit: PAGE_ROWS, before: null },
    { topics: ['inbox'], keep: true },
  );
  const first = list.loading ? undefined : list.rows[0]?.id;
  const fresh = first === undefined ? 0 : (newest.data?.messages ?? []).filter(({ id }) => id > first).length;
  const { showNewest } = list;
  useEffect(() => {
    if (isAtTop && fresh > 0 && !newest.isPlaceholderData) showNewest();
  }, [isAtTop, fresh, newest.isPlaceholderData, showNewest]);
  return { ...list, newest: newest.data, fresh: isAtTop ? 0 : fresh };
}
