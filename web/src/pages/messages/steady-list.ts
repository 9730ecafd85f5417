import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Hint } from '../../../../src/dashboard/contract.ts';
import type { Topic } from '../../../../src/operations/operation.ts';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { type ApiError, call } from '../../api.ts';
import { useHints } from '../../live.ts';
import { useCall } from '../../queries.ts';

/** A message of a list. */
export type FoundMessage = ResultOf<'search'>['messages'][number];

/** A page of a list of messages, whatever else it tells. */
interface ListPage {
  readonly messages: readonly FoundMessage[];
  readonly next: string | null;
  /** Messages that words do not find yet. */
  readonly behind?: number;
}

/** What a list was when it was left, so that going back finds it as it was. */
interface Place {
  readonly asked: string;
  /** Counts how often the newest were asked for. */
  readonly generation: number;
  /** Where each of its pages begins; null is the newest. */
  readonly cursors: readonly (string | null)[];
}

/** Pages that are looked at before it is said that they bring little, and rows of a page that are little. */
const SPARSE_PAGES = 3;
/** How often is asked again while the index catches up. */
const BEHIND_MS = 2_000;
const SPARSE_ROWS = 5;

const START: Place = { asked: '', generation: 0, cursors: [null] };
const left = new Map<string, Place>();

/** Messages page by page. Rows never move by themselves: the first stays the first until the newest are asked for. */
export function useSteadyList<Page extends ListPage>({
  name,
  asked,
  fetchPage,
  topic,
  restless = false,
}: {
  /** Which list it is: it is found again as it was left. */
  readonly name: string;
  /** What is asked for, as text; another one begins anew. */
  readonly asked: string;
  /** Fetches the page of messages below an id; null: the newest. */
  readonly fetchPage: (before: string | null, signal: AbortSignal) => Promise<Page>;
  /** Hints on it fetch pages again that may change by themselves. */
  readonly topic: Topic;
  /** Rows come and go also where every message is final. */
  readonly restless?: boolean;
}) {
  const client = useQueryClient();
  const [place, setPlace] = useState<Place>(() => left.get(name) ?? START);
  const now = place.asked === asked ? place : { ...place, asked, cursors: [null] };
  const { generation, cursors } = now;
  useEffect(() => {
    left.set(name, { asked, generation, cursors });
  });
  const keyOf = useCallback(
    (cursor: string | null) => [name, asked, generation, cursor] as const,
    [name, asked, generation],
  );
  const results = useQueries({
    queries: cursors.map((cursor) => ({
      queryKey: keyOf(cursor),
      queryFn: ({ signal }: { signal: AbortSignal }) => {
        const shown = cursor === null ? client.getQueryData<Page>(keyOf(null)) : undefined;
        return fetchPage(cursor ?? beginAt(shown), signal);
      },
      staleTime: 20_000,
      // Nothing tells when the index has caught up.
      refetchInterval: ({ state }: { state: { data?: Page | undefined } }) =>
        (state.data?.behind ?? 0) > 0 ? BEHIND_MS : false,
      meta: { topics: restless || !isSettled(client.getQueryData<Page>(keyOf(cursor))) ? [topic] : [] },
    })),
  });
  useNamedHints(topic, keyOf, cursors);
  const pages = results.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const stamp = results.map(({ dataUpdatedAt }) => dataUpdatedAt).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stamp tells of every change of the pages
  const rows = useMemo(() => joined(pages), [stamp, asked, generation]);
  const showNewest = useCallback(
    () => setPlace((before) => ({ asked, generation: before.generation + 1, cursors: [null] })),
    [asked],
  );
  const last = results.at(-1);
  const next = last?.data?.next ?? null;
  const load = useCallback(() => {
    if (next !== null && !cursors.includes(next))
      setPlace({ asked, generation, cursors: [...cursors, next] });
  }, [next, asked, generation, cursors]);
  const isLoadingMore = pages.length > 0 && last?.isPending === true;
  const shown = useFormer(pages.length > 0 ? { rows, first: pages[0] } : null);
  return {
    rows: shown?.rows ?? [],
    first: shown?.first,
    error: (results.find(({ error }) => error !== null)?.error as ApiError | undefined) ?? null,
    /** Nothing is known yet of what is asked for; rows are those of what was asked for before. */
    loading: pages.length === 0,
    more: { has: next !== null || isLoadingMore, loading: isLoadingMore, load },
    /** Pages come nearly empty: whoever wants more is to say so, or all that is stored would be looked at. */
    sparse: next !== null && cursors.length >= SPARSE_PAGES && rows.length < cursors.length * SPARSE_ROWS,
    showNewest,
    retry: () => {
      for (const result of results) if (result.error !== null) void result.refetch();
    },
  };
}

/** Hints that name messages fetch the pages again that show them, settled or not. */
function useNamedHints(
  topic: Topic,
  keyOf: (cursor: string | null) => readonly unknown[],
  cursors: readonly (string | null)[],
): void {
  const client = useQueryClient();
  useHints(
    useCallback(
      ({ topics, ids }: Hint) => {
        if (!topics.includes(topic) || ids === undefined) return;
        for (const cursor of cursors) {
          const page = client.getQueryData<ListPage>(keyOf(cursor));
          if (page?.messages.some(({ id }) => ids.includes(id)))
            void client.invalidateQueries({ queryKey: keyOf(cursor), exact: true });
        }
      },
      [client, topic, keyOf, cursors],
    ),
  );
}

/** Fetched again, the first page begins with the message that it began with. */
function beginAt(page: ListPage | undefined): string | null {
  const first = page?.messages[0];
  return first === undefined ? null : idAfter(first.id);
}

/** Nothing on the page is going to change by itself. */
function isSettled(page: ListPage | undefined): boolean {
  return (
    page !== undefined &&
    page.messages.length > 0 &&
    page.messages.every(({ status }) => status === 'delivered' || status === 'failed')
  );
}

/** Pages may overlap when messages between them have been removed. */
function joined(pages: readonly ListPage[]): FoundMessage[] {
  const seen = new Set<string>();
  return pages
    .flatMap(({ messages }) => messages)
    .filter(({ id }) => {
      if (seen.has(id)) return false;
      seen.add(id);
      return true;
    });
}

/** The former value while there is none. */
function useFormer<Value>(value: Value | null): Value | null {
  const former = useRef(value);
  useEffect(() => {
    if (value !== null) former.current = value;
  });
  return value ?? former.current;
}

/** Crockford's base32 as message ids are written with it; the order of its characters is that of their numbers. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * The id that follows one: as the `before` of a page it makes that message the first, so that a list can be fetched
 * again without what has come since. Null for what is no id.
 */
export function idAfter(id: string): string | null {
  const characters = [...id];
  for (let place = characters.length - 1; place >= 0; place--) {
    const number = ALPHABET.indexOf(characters[place] ?? '');
    if (number === -1) return null;
    characters[place] = ALPHABET.charAt((number + 1) % ALPHABET.length);
    if (number + 1 < ALPHABET.length) return characters.join('');
  }
  return null;
}

const PAGE_ROWS = 50;

/** What a query finds, and how much has come since. */
export type MessageList = ReturnType<typeof useMessageList>;

/** Finds messages, page by page. What has come since is counted, and shown when asked for. */
export function useMessageList(query: string) {
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
