import type { FeedbackDetail, StoredFeedback } from '../views.ts';
import { rows, type Work } from './work.ts';

/** Views of what others told us, written once for both databases; what writes it is in `telling.ts`. */

/** How much of one message is listed. */
const MAX_LISTED = 100;

/** One piece of evidence. */
export function* feedbackOf(id: string): Work<FeedbackDetail | null> {
  const [found] = yield* rows<FeedbackDetail>`SELECT id, at, source, kind, message AS "messageId", address,
    content_type AS "contentType", evidence AS base64 FROM feedback WHERE id = ${id}`;
  return found ?? null;
}

/** What was told of a message, the newest first. */
export function feedbackAbout(messageId: string): Work<StoredFeedback[]> {
  return rows<StoredFeedback>`SELECT id, at, source, kind, message AS "messageId", address,
    content_type AS "contentType" FROM feedback WHERE message = ${messageId} ORDER BY id DESC LIMIT ${MAX_LISTED}`;
}
