import { feedbackDetailJson, feedbackListJson } from '../ingest/http/feedback.ts';
import { OperationError } from '../operations/call.ts';
import type { FeedbackOperations } from '../operations/feedback.ts';
import type { LocalDeps } from './deps.ts';
import { findNamed } from './found-mail.ts';

/** See {@link FeedbackOperations}. */
export function feedbackOperations({ views }: Pick<LocalDeps, 'views'>): FeedbackOperations {
  return {
    messageFeedback: async ({ id }) => {
      const { message } = await findNamed(id, views);
      return feedbackListJson(await views.feedbackAbout(message.id));
    },
    feedbackText: async ({ id }) => {
      const found = await views.feedback(id);
      if (found === null)
        throw new OperationError('not_found', 'There is no such evidence, or it is no longer kept.');
      const { content, ...entry } = feedbackDetailJson(found);
      // Bytes that are no UTF-8 are shown as such; nothing is decoded further.
      return { ...entry, text: Buffer.from(content, 'base64').toString('utf8') };
    },
  };
}
