import { around, VIEWS } from '../forwarding.ts';
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
  const looking = around<Omit<Views, 'close'>>(VIEWS, views, (view, look) =>
    view === 'message' || view === 'attempts' ? after(look) : roughly(look),
  );
  return { ...looking, close: () => views.close() };
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
