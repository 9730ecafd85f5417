import { newToken } from '../accounts/secrets.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { createIdSource, hashSecret } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import {
  type NewStoryLink,
  type SharingOperations,
  type StoryLinkView,
  USUAL_HOURS,
} from '../operations/sharing.ts';
import type { RequestOf } from '../operations/table.ts';
import type { StoryLink } from '../store/sharing.ts';
import type { LocalDeps } from './deps.ts';
import { ASKING } from './door.ts';
import { findNamed } from './found-mail.ts';
import { dashboardUrl } from './own-url.ts';

/** Most links to the story of a message, and of all messages. */
const BOUNDS = { ofMessage: 10, all: 10_000 };
const HOUR_MS = 3_600_000;

/** Where the dashboard shows a story; the token stands behind the `#`, which browsers send to no server. */
const STORY_PATH = '/story#';

/** What the operations need. */
export type StoryLinkDeps = Pick<
  LocalDeps,
  'sharing' | 'views' | 'clock' | 'random' | 'resolution' | 'running' | 'dataDir'
>;

/** The operations on links to stories; who has one, reads by `dashboard/shared-stories.ts`. */
export function storyLinkOperations(
  deps: StoryLinkDeps,
): Pick<SharingOperations, 'storyLinks' | 'makeStoryLink' | 'endStoryLink'> {
  const { sharing, views, clock } = deps;
  const nextId = createIdSource(clock, deps.random, 'stl_');
  return {
    storyLinks: async ({ id }) => {
      const { message } = await findNamed(id, views);
      return (await sharing.storyLinks(message.id, clock.wall())).map(linkView);
    },
    makeStoryLink: (request) => makeLink(request, nextId(), deps),
    endStoryLink: async ({ id }) => {
      const ended = await sharing.endStoryLink(id);
      if (ended === null) throw new OperationError('not_found', `There is no link ${id}, or it has ended.`);
      return linkView(ended);
    },
  };
}

async function makeLink(
  { id: message, hours = USUAL_HOURS, content = false }: RequestOf<'makeStoryLink'>,
  id: string,
  deps: StoryLinkDeps,
): Promise<NewStoryLink> {
  const { sharing, views, clock, random, resolution } = deps;
  const days = resolution().config.webui.storyLinkMaxDays;
  if (days === 0)
    throw new OperationError('refused', 'Stories are shown to nobody else: webui.story_link_max_days is 0.');
  if (hours > days * 24)
    throw new OperationError('invalid', `hours: must be at most ${days * 24} (webui.story_link_max_days).`);
  const found = await findNamed(message, views);
  const now = clock.wall();
  const link: StoryLink = {
    id,
    message: found.message.id,
    madeBy: ASKING.getStore()?.name ?? '',
    hasContent: content,
    createdAt: now,
    expiresAt: now + hours * HOUR_MS,
  };
  const token = newToken(random);
  const answer = await sharing.addStoryLink({ link, hash: hashSecret(token) }, BOUNDS, now);
  if (answer === 'too_many')
    throw new OperationError('refused', `The message has ${BOUNDS.ofMessage} links already: end one.`);
  if (answer === 'full')
    throw new OperationError('refused', `There are ${BOUNDS.all} links to stories already: end some.`);
  const path = `${STORY_PATH}${token}`;
  return { ...linkView(link), path, url: dashboardUrl(path, deps) };
}

function linkView({ id, message, madeBy, hasContent, createdAt, expiresAt }: StoryLink): StoryLinkView {
  return {
    id,
    message,
    madeBy,
    content: hasContent,
    createdAt: formatTimestamp(createdAt),
    expiresAt: formatTimestamp(expiresAt),
  };
}
