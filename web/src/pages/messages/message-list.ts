import { useCallback, useEffect, useRef } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { call } from '../../api.ts';
import { useCall } from '../../queries.ts';
import { type SteadyList, useSteadyList } from './steady-list.ts';

const PAGE_ROWS = 50;

/** What a query finds, and how much has come since. */
export interface MessageList extends SteadyList<ResultOf<'search'>> {
  /** Newer ones that are not shown. */
  readonly fresh: { readonly count: number; readonly more: boolean };
}

/** Finds messages, page by page. What has come since is counted, and shown when asked for. */
export function useMessageList(query: string): MessageList {
  const list = useSteadyList({
    name: 'search',
    asked: query,
    topic: 'messages',
    fetchPage: (before, signal) => call('search', { query, limit: PAGE_ROWS, before }, signal),
  });
  const newest = list.loading ? undefined : list.rows[0]?.id;
  const counted = useCall(
    'countNew',
    { query, after: newest ?? '' },
    { topics: ['messages'], enabled: newest !== undefined },
  );
  const fresh = { count: counted.data?.count ?? 0, more: counted.data?.more ?? false };
  const { showNewest } = list;
  const show = useCallback(() => {
    showNewest();
    window.scrollTo({ top: 0 });
  }, [showNewest]);
  useFreshAtFirst(fresh.count, counted.isFetchedAfterMount, show);
  return { ...list, fresh, showNewest: show };
}

/** Someone who comes back to the top of a list wants to see it as it is now. */
function useFreshAtFirst(count: number, known: boolean, show: () => void): void {
  const done = useRef(false);
  useEffect(() => {
    if (done.current || !known) return;
    done.current = true;
    if (count > 0 && window.scrollY < 60) show();
  }, [count, known, show]);
}
