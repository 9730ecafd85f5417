import type { EventsKept } from '../domain/event.ts';
import type { Clock } from '../lib/clock.ts';
import { storesOver, viewsOver, type WritingStores } from '../store/sqlite/facade.ts';
import type { ListSlice } from '../store/sqlite/paging.ts';
import type { FoundSlice } from '../store/sqlite/slices.ts';
import type { StoreError } from '../store/store.ts';
import type { Views } from '../store/views.ts';
import type { StoreWriter } from '../store/writer.ts';
import { Caller } from './caller.ts';
import { Lists } from './lists.ts';
import { workerUrl } from './wire.ts';

/** See `CallerOptions`; a busy server stays far below the default limits. */
interface ThreadOptions {
  /** The database file. */
  readonly path: string;
  readonly clock: Pick<Clock, 'mono'>;
  readonly onDeath: (error: StoreError) => void;
  readonly maxWaitingCalls?: number;
  readonly maxWaitingBytes?: number;
}

/** Default limits of the calls that wait for a thread. */
export const WAITING_LIMITS = { maxWaitingCalls: 20_000, maxWaitingBytes: 64 * 1024 * 1024 } as const;

/** The stores of the writing thread. Closing the store ends it. */
export interface StoreThread extends WritingStores, StoreWriter {}

/** Starts the store thread, which opens, creates or migrates the database. Rejects with `StoreError`. */
export async function startStoreThread({
  path,
  eventsKept,
  ...options
}: ThreadOptions & { readonly eventsKept?: EventsKept }): Promise<StoreThread> {
  const url = workerUrl('store-worker');
  const caller = await Caller.start({ ...WAITING_LIMITS, ...options, url, data: { path, eventsKept } });
  const close = () => caller.close();
  return {
    ...storesOver((verb, args) => caller.call(verb, args), close),
    commits: () => caller.batches,
    waitingMs: () => caller.waitingMs(),
  };
}

/**
 * Starts the cold thread over a database that the store thread has opened. Closing the views ends it; do that before
 * closing the store. Rejects with `StoreError`.
 */
export async function startViewsThread({ path, ...options }: ThreadOptions): Promise<Views> {
  const url = workerUrl('views-worker');
  const caller = await Caller.start({ ...WAITING_LIMITS, ...options, url, data: { path } });
  const lists = new Lists(
    (request) => caller.callAlone('listSlice', [request]) as Promise<ListSlice>,
    (request) => caller.callAlone('searchSlice', [request]) as Promise<FoundSlice>,
    options.clock,
  );
  return {
    ...viewsOver(
      (verb, args) => caller.call(verb, args),
      () => caller.close(),
    ),
    list: (query) => lists.list(query),
    search: (query) => lists.search(query),
  };
}
