import type { Clock } from '../lib/clock.ts';
import { createIdSource } from '../lib/id.ts';
import type { Random } from '../lib/random.ts';
import type { SavedView, Sharing, ViewChange } from '../store/sharing.ts';
import { AccountRefusal } from './reception.ts';

/** What users save of what pages show: everybody their own. That others see one is an operation (`control/sharing.ts`). */
export interface SavedViews {
  /** A user's own views, and those that others share; by name. */
  list(user: string): Promise<SavedView[]>;
  /** Saves one. This and the others reject with `AccountRefusal`. */
  add(user: string, shown: Pick<SavedView, 'page' | 'name' | 'search'>): Promise<SavedView>;
  /** Changes what is not null of one. */
  change(user: string, id: string, change: ViewChange): Promise<SavedView>;
  remove(user: string, id: string): Promise<SavedView>;
}

interface SavedViewsDeps {
  readonly sharing: Pick<Sharing, 'savedViews' | 'addView' | 'changeView' | 'removeView'>;
  readonly clock: Pick<Clock, 'wall'>;
  readonly random: Random;
  /** `webui.max_saved_views` */
  readonly max: () => number;
}

/** See {@link SavedViews}. */
export function createSavedViews({ sharing, clock, random, max }: SavedViewsDeps): SavedViews {
  const nextId = createIdSource(clock, random, 'viw_');
  return {
    list: (user) => sharing.savedViews(user),
    add: async (user, { page, name, search }) => {
      const view = { id: nextId(), user, page, name, search, isShared: false, createdAt: clock.wall() };
      const limit = max();
      const answer = await sharing.addView(view, limit);
      if (answer === 'name_taken') throw nameTaken(name);
      if (answer === 'added') return view;
      throw new AccountRefusal(
        'views_full',
        `You have ${limit} views already, as many as webui.max_saved_views allows. Remove one.`,
      );
    },
    change: async (user, id, change) => {
      const changed = await sharing.changeView(user, id, change);
      if (changed === 'name_taken') throw nameTaken(change.name ?? '');
      if (changed === null) throw viewMissing();
      return changed;
    },
    remove: async (user, id) => {
      const removed = await sharing.removeView(user, id);
      if (removed === null) throw viewMissing();
      return removed;
    },
  };
}

function nameTaken(name: string): AccountRefusal {
  return new AccountRefusal('view_name_taken', `There is already a view ${name} of this page.`);
}

function viewMissing(): AccountRefusal {
  return new AccountRefusal('view_missing', 'You have no such view any more.');
}
