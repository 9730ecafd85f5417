import { mayAct } from '../domain/account.ts';
import { OperationError } from '../operations/call.ts';
import type { SharedView, SharingOperations } from '../operations/sharing.ts';
import type { RequestOf } from '../operations/table.ts';
import type { SavedView } from '../store/sharing.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING } from './door.ts';
import { type StoryLinkDeps, storyLinkOperations } from './story-links.ts';

/** Most views that users share, of all together: everybody looks through them. */
const MAX_SHARED_VIEWS = 100;

type SharingDeps = Pick<LocalDeps, 'sharing'>;

/** See {@link SharingOperations}. */
export function sharingOperations(deps: StoryLinkDeps): SharingOperations {
  return {
    shareView: async (request) => sharedView(await shareView(request, deps)),
    ...storyLinkOperations(deps),
  };
}

async function shareView(
  { id, shared }: RequestOf<'shareView'>,
  { sharing }: SharingDeps,
): Promise<SavedView> {
  const actor = ASKING.getStore();
  const own = actor?.kind === 'user' ? actor.name : null;
  const isAdmin = actor !== undefined && mayAct(actor.role, 'admin');
  const done = shared ? await share(id, own, sharing) : await unshare(id, own, isAdmin, sharing);
  if (done === 'name_taken')
    throw new OperationError('refused', 'Somebody shares a view of this page with that name. Rename yours.');
  if (done === 'too_many')
    throw new OperationError('refused', `There are already ${MAX_SHARED_VIEWS} shared views, the maximum.`);
  if (done === null) throw new OperationError('not_found', 'You have no such view.');
  return done;
}

async function share(id: string, own: string | null, sharing: SharingDeps['sharing']) {
  return own === null ? null : await sharing.shareView(own, id, MAX_SHARED_VIEWS);
}

async function unshare(id: string, own: string | null, isAdmin: boolean, sharing: SharingDeps['sharing']) {
  return own === null && !isAdmin ? null : await sharing.unshareView(isAdmin ? null : own, id);
}

function sharedView({ id, page, name, user, isShared }: SavedView): SharedView {
  return { id, page, name, user, shared: isShared };
}
