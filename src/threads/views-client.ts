import { type Call, viewsOver } from '../store/sqlite/facade.ts';
import type { ListSlice } from '../store/sqlite/paging.ts';
import type { FoundSlice } from '../store/sqlite/slices.ts';
import type { ViewVerbs } from '../store/sqlite/views.ts';
import type { Views } from '../store/views.ts';
import { Caller } from './caller.ts';
import { Lists } from './lists.ts';
import { type ThreadOptions, WAITING_LIMITS } from './store-client.ts';
import { workerUrl } from './worker-url.ts';

/**
 * Starts the cold thread over a database that the store thread has opened before. Closing the views ends it;
 * to be done before the store is closed. Rejects with `StoreError`.
 */
export async function startViewsThread({ path, ...options }: ThreadOptions): Promise<Views> {
  const url = workerUrl('views-worker');
  const caller = await Caller.start({ ...WAITING_LIMITS, ...options, url, data: { path } });
  // What comes from another thread has no type: each verb gives what the table of verbs says.
  const call: Call<ViewVerbs> = (verb, args) => caller.call(verb, args) as never;
  const lists = new Lists(
    (request) => caller.callAlone('listSlice', [request]) as Promise<ListSlice>,
    (request) => caller.callAlone('searchSlice', [request]) as Promise<FoundSlice>,
    options.clock,
  );
  return {
    ...viewsOver(call, () => caller.close()),
    list: (query) => lists.list(query),
    search: (query) => lists.search(query),
  };
}
