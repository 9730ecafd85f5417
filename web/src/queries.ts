import {
  type InfiniteData,
  keepPreviousData,
  type Query,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Topic } from '../../src/operations/operation.ts';
import type { OperationName, RequestOf, ResultOf } from '../../src/operations/table.ts';
import { ApiError, call } from './api.ts';
import { toast } from './parts/toast.tsx';

/** A server on the same machine or network can be reached where the browser finds itself offline. */
const networkMode = 'always';

/** How often a call that the server could not be reached for is tried again, before the page says so. */
const RETRIES = 2;

/** The one cache of answers. What is shown is refetched when a hint says that it may have changed (`live.ts`). */
export const queryClient = new QueryClient({
  defaultOptions: {
    mutations: { networkMode },
    queries: {
      networkMode,
      staleTime: 10_000,
      gcTime: 120_000,
      retry: (failures, error) =>
        failures < RETRIES && error instanceof ApiError && (error.status === 0 || error.status >= 502),
      // `live.ts` does it, and knows better.
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
  },
});

/** How a call is kept up to date. */
export interface CallOptions {
  /** What it is about: hints on these fetch it again. */
  readonly topics?: readonly Topic[];
  /** False: not asked yet. */
  readonly enabled?: boolean;
  /** Fetched again so often, for what no hint tells of. */
  readonly everyMs?: number;
  /**
   * Fetched again within a second however much happens, as `live.ts` paces it: only for answers that the server shares
   * among all who ask.
   */
  readonly prompt?: boolean;
  /** Shows the former answer until that to a changed request has come. */
  readonly keep?: boolean;
}

/** The answer of an operation, kept up to date. */
export function useCall<Name extends OperationName>(
  operation: Name,
  request: RequestOf<Name>,
  { topics = [], enabled = true, everyMs, keep = false, prompt = false }: CallOptions = {},
): UseQueryResult<ResultOf<Name>, ApiError> {
  return useQuery<ResultOf<Name>, ApiError>({
    queryKey: [operation, request],
    queryFn: ({ signal }) => call(operation, request, signal),
    enabled,
    meta: { topics, prompt },
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    // The library's type for it does not follow ours through the page's generics; it gives back what it is given.
    ...(keep && { placeholderData: keepPreviousData as never }),
  });
}

/** A list that is fetched page by page, by an operation with a cursor; its `more` is for {@link DataTable}. */
export function usePages<Name extends OperationName, Cursor extends string | number, Row>(
  operation: Name,
  {
    request,
    rows,
    next,
    topics = [],
    enabled = true,
    keep = false,
  }: CallOptions & {
    /** The request for the page that begins at a cursor; null is the first. */
    readonly request: (before: Cursor | null) => RequestOf<Name>;
    readonly rows: (page: ResultOf<Name>) => readonly Row[];
    /** The cursor of the next page; null when there is none. */
    readonly next: (page: ResultOf<Name>) => Cursor | null;
  },
) {
  const query = useInfiniteQuery<
    ResultOf<Name>,
    ApiError,
    InfiniteData<ResultOf<Name>>,
    readonly unknown[],
    Cursor | null
  >({
    queryKey: [operation, 'pages', request(null)],
    queryFn: ({ pageParam, signal }) => call(operation, request(pageParam as Cursor | null), signal),
    initialPageParam: null,
    getNextPageParam: (last) => next(last),
    // What was fetched by `load` alone is kept up to date, too.
    enabled: ({ state }) => enabled || state.data !== undefined,
    meta: { topics },
    // As above: the library's type for it does not follow ours.
    ...(keep && { placeholderData: keepPreviousData as never }),
  });
  const pages = query.data?.pages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the reader of rows is part of the page's code, and does not change what it reads
  const all = useMemo(() => (pages ?? []).flatMap((page) => rows(page)), [pages]);
  return {
    /** What has been fetched, one after the other. */
    rows: all,
    /** For {@link Fetched}: it has data as soon as the first page has come. */
    query: { ...query, data: pages?.[0] },
    more: {
      has: query.hasNextPage,
      loading: query.isFetchingNextPage,
      failed: query.isFetchNextPageError,
      load: () =>
        void query
          .fetchNextPage()
          .then(({ error }) => error !== null && toast.error(error.message, error.requestId)),
    },
  };
}

/** What happens after an act. */
export interface ActOptions<Result> {
  /** Said when it was done; by default nothing. */
  readonly done?: string | ((result: Result) => string) | undefined;
  /** True: the caller shows the error itself, by a form for example. */
  readonly quiet?: boolean;
  readonly onDone?: ((result: Result) => void) | undefined;
}

/** Something that changes something, however it is asked for. What is shown is fetched again when it was done. */
export function useDoing<Request, Result>(
  work: (request: Request) => Promise<Result>,
  { done, quiet = false, onDone }: ActOptions<Result>,
): UseMutationResult<Result, ApiError, Request> {
  return useMutation<Result, ApiError, Request>({
    mutationFn: work,
    onSuccess: (result) => {
      if (done !== undefined) toast.success(typeof done === 'function' ? done(result) : done);
      refetchShown();
      onDone?.(result);
    },
    onError: (error) => {
      if (!quiet) toast.error(error.message, error.requestId);
    },
  });
}

/** An operation that changes something: `const cancel = useAct('cancelMessage', { done: 'Cancelled.' })`. */
export function useAct<Name extends OperationName>(
  operation: Name,
  options: ActOptions<ResultOf<Name>> = {},
) {
  return useDoing((request: RequestOf<Name>) => call(operation, request), options);
}

/**
 * Fetches again what is shown of these topics, or, without them, of all; what is not shown is marked as out of date.
 * `prompt`: only those calls that are, or are not.
 */
export function refetchShown(topics?: ReadonlySet<Topic>, prompt?: boolean): void {
  void queryClient.invalidateQueries({ predicate: about(topics, prompt) });
}

/** Whether what {@link refetchShown} would fetch is being fetched already. */
export function isFetchingShown(topics: ReadonlySet<Topic>, prompt: boolean): boolean {
  return queryClient.isFetching({ type: 'active', predicate: about(topics, prompt) }) > 0;
}

function about(topics?: ReadonlySet<Topic>, prompt?: boolean): (query: Query) => boolean {
  return ({ meta }) => {
    if (prompt !== undefined && prompt !== (meta?.['prompt'] ?? false)) return false;
    const own = (meta?.['topics'] ?? []) as readonly Topic[];
    return own.some((topic) => topics === undefined || topics.has(topic));
  };
}
