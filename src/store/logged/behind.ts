import type { Registry } from '../registry.ts';
import { StoreError } from '../store.ts';
import type { Views } from '../views.ts';

/** Resolves when everything that was answered is in the database. */
type Written = () => Promise<void>;

/**
 * Views that show whatever was answered before they were asked. While the disk has no room for it, what is told of many messages
 * is what the database has; of one that may be missing there nothing is told, for it would be said not to exist.
 */
export function viewsBehind(written: Written, views: Views): Views {
  const after = async <T>(look: () => Promise<T>): Promise<T> => {
    await written();
    return await look();
  };
  const roughly = async <T>(look: () => Promise<T>): Promise<T> => {
    await written().catch((error: unknown) => {
      if (!(error instanceof StoreError) || error.code !== 'store_full') throw error;
    });
    return await look();
  };
  return {
    message: (...args) => after(() => views.message(...args)),
    attempts: (...args) => after(() => views.attempts(...args)),
    list: (...args) => roughly(() => views.list(...args)),
    search: (...args) => roughly(() => views.search(...args)),
    countFound: (...args) => roughly(() => views.countFound(...args)),
    counts: (...args) => roughly(() => views.counts(...args)),
    remembered: (...args) => roughly(() => views.remembered(...args)),
    figures: (...args) => roughly(() => views.figures(...args)),
    lanes: (...args) => roughly(() => views.lanes(...args)),
    quotaUsed: (...args) => roughly(() => views.quotaUsed(...args)),
    waiting: (...args) => roughly(() => views.waiting(...args)),
    close: () => views.close(),
  };
}

/** A registry that knows of all mail when it is asked to remove a relay. */
export function registryBehind(written: Written, registry: Registry): Registry {
  return {
    ...registry,
    removeRelay: async (...args) => {
      await written();
      return await registry.removeRelay(...args);
    },
  };
}
