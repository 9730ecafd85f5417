/** What users keep and show each other, for tests. */
import { createIdSource } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import type { SavedView, StoryLink } from '../../src/store/sharing.ts';
import { HOUR, T0 } from '../contract/store/fixtures.ts';

const nextView = createIdSource({ wall: () => T0 }, seededRandom(21), 'viw_');
const nextLink = createIdSource({ wall: () => T0 }, seededRandom(22), 'stl_');

/** A view of ann's, which nobody else has. */
export function savedView(change: Partial<SavedView> = {}): SavedView {
  return {
    id: nextView(),
    user: 'ann',
    page: '/messages',
    name: 'Failed',
    search: { q: 'status:failed' },
    isShared: false,
    createdAt: T0,
    ...change,
  };
}

/** A link to the story of a message, for an hour. */
export function storyLink(change: Partial<StoryLink> = {}): StoryLink {
  return {
    id: nextLink(),
    message: 'msg_00000000000000000000000001',
    madeBy: 'ann',
    hasContent: false,
    createdAt: T0,
    expiresAt: T0 + HOUR,
    ...change,
  };
}
