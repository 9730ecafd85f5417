import { Problem } from '../http/problem.ts';
import { cancelMessage, retryMessage } from '../ingest/http/acts.ts';
import { createTokenSource } from '../lib/id.ts';
import { OperationError } from '../operations/call.ts';
import { type ActedMessages, MAX_NEW, type SearchOperations, type SearchPage } from '../operations/search.ts';
import type { RequestOf } from '../operations/table.ts';
import { findNamed, foundMessages } from './found-message.ts';
import type { LocalDeps } from './local-deps.ts';
import type { PreviewOperations } from './local-preview.ts';
import { readQuery, requireId } from './mail-search.ts';
import { messageStory } from './message-story.ts';
import { asOperationError } from './operation-error.ts';
import { createOverview, series } from './overview.ts';
import { sendAgain } from './send-again.ts';

/** Messages acted on at once: enough to share commits, few enough to be read into memory. */
const ACTED_AT_ONCE = 25;

/** See {@link SearchOperations}: all but those that read what a message says. */
export function searchOperations(deps: LocalDeps): Omit<SearchOperations, keyof PreviewOperations> {
  const nextToken = createTokenSource(deps.clock, deps.random);
  const overview = createOverview(deps);
  return {
    search: (request) => search(request, deps),
    countNew: (request) => countNew(request, deps),
    messageStory: async ({ id }) => await messageStory(await findNamed(id, deps.views), deps),
    resendMessage: async ({ id }) =>
      await sendAgain(await findNamed(id, deps.views), nextToken(), null, deps),
    actOnMessages: (request) => actOnMessages(request, deps),
    overview,
    series: (request) => series(request, deps),
  };
}

async function search(
  { query: text, limit, before }: RequestOf<'search'>,
  deps: LocalDeps,
): Promise<SearchPage> {
  const { query, notes } = await readQuery(text, deps);
  const wanted = { query, after: null, before: requireId('before', before), limit };
  const { messages, next, behind } = await deps.views.search(wanted);
  return { messages: await foundMessages(messages, deps), next, notes, behind };
}

async function countNew({ query: text, after }: RequestOf<'countNew'>, deps: LocalDeps) {
  const { query } = await readQuery(text, deps);
  return await deps.views.countFound({
    query,
    after: requireId('after', after),
    before: null,
    limit: MAX_NEW,
  });
}

/** One message's refusal is its own: the others are acted on. */
async function actOnMessages(
  { act, ids }: RequestOf<'actOnMessages'>,
  deps: LocalDeps,
): Promise<ActedMessages> {
  const refused: { readonly id: string; readonly reason: string }[] = [];
  const wanted = [...new Set(ids)];
  for (let start = 0; start < wanted.length; start += ACTED_AT_ONCE) {
    const chunk = wanted.slice(start, start + ACTED_AT_ONCE);
    const reasons = await Promise.all(chunk.map((id) => refusalOf(act, id, deps)));
    for (const [place, reason] of reasons.entries())
      if (reason !== null) refused.push({ id: chunk[place] ?? '', reason });
  }
  return { acted: wanted.length - refused.length, refused };
}

/** Acts on a message. Null when it was done; else why not. Rejects where nothing can be done at all. */
async function refusalOf(act: 'retry' | 'cancel', id: string, deps: LocalDeps): Promise<string | null> {
  try {
    const { message } = await findNamed(id, deps.views);
    if (act === 'cancel') await cancelMessage(message, deps.acts);
    else await retryMessage(message, deps.acts);
    return null;
  } catch (error) {
    const refusal = error instanceof Problem ? asOperationError(error) : error;
    if (refusal instanceof OperationError && refusal.code !== 'unavailable') return refusal.message;
    throw refusal;
  }
}
