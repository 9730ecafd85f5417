import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Hint, Topic } from '../../../../src/dashboard/contract.ts';
import type { ResultOf } from '../../../../src/operations/table.ts';
import type { ApiError } from '../../api.ts';
import { useHints } from '../../live.ts';
import { idAfter } from './next-id.ts';

/** A message of a list. */
export type FoundMessage = ResultOf<'search'>['messages'][number];

/** A page of a list of messages, whatever else it tells. */
interface ListPage {
  readonly messages: readonly FoundMessage[];
  readonly next: string | null;
  /** Messages that words do not find yet. */
  readonly behind?: number;
}

/** How a list of messages is fetched. */
export interface SteadyListOptions<Page extends ListPage> {
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
}

/** Messages page by page. Rows never move by themselves: the first stays the first until the newest are asked for. */
export interface SteadyList<Page extends ListPage> {
  readonly rows: readonly FoundMessage[];
  readonly first: Page | undefined;
  readonly error: ApiError | null;
  /** Nothing is known yet of what is asked for; rows are those of what was asked for before. */
  readonly loading: boolean;
  readonly more: { readonly has: boolean; readonly loading: boolean; readonly load: () => void };
  /** Pages come nearly empty: whoever wants more is to say so, or all that is stored would be looked at. */
  readonly sparse: boolean;
  readonly showNewest: () => void;
  readonly retry: () => void;
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

/** See {@link SteadyList}. */
export function useSteadyList<Page extends ListPage>({
  name,
  asked,
  fetchPage,
  topic,
  restless = false,
}: SteadyListOptions<Page>): SteadyList<Page> {
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
    loading: pages.length === 0,
    more: { has: next !== null || isLoadingMore, loading: isLoadingMore, load },
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
