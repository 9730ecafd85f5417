import type { ApiKey } from '../../domain/key.ts';
import type { MessageRecord } from '../../domain/message.ts';
import { Problem } from '../../http/problem.ts';
import { isMessageId } from '../../lib/id.ts';
import type { MessageDetail, Views } from '../../store/views.ts';

/** Whose messages a key may see, whose it may act on, and what cannot be done with some (contract §3.1, §3.3). */

/** The message, if it exists and the key may see it; else throws one and the same 404. */
export async function findReadable(
  id: string,
  key: ApiKey,
  views: Pick<Views, 'message'>,
): Promise<MessageDetail> {
  const detail = isMessageId(id) ? await views.message(id) : null;
  const visible =
    detail !== null && (detail.message.keyId === key.id || key.scopes.includes('messages:read_all'));
  if (!visible) throw messageNotFound();
  return detail;
}

/**
 * The message, if the key may act on it: its own, or any that it sees when it has the scope `admin`. Throws 404
 * for one it may not even see, 403 for one it may only read.
 */
export async function findActionable(
  id: string,
  key: ApiKey,
  views: Pick<Views, 'message'>,
): Promise<MessageDetail> {
  const detail = await findReadable(id, key, views);
  if (detail.message.keyId !== key.id && !key.scopes.includes('admin'))
    throw new Problem(
      403,
      'scope_missing',
      "Acting on another key's message needs a key with the scope admin.",
    );
  return detail;
}

/** The answer for what does not exist, and for what the key may not know of. */
export function messageNotFound(): Problem {
  return new Problem(404, 'message_not_found', 'There is no such message.');
}

/** The answer where the bytes are needed and retention has removed them: 404 for reading, 409 for acting. */
export function contentExpired(status: 404 | 409): Problem {
  return new Problem(
    status,
    'content_expired',
    'The content is no longer kept: it is removed retention.content_days after the final status, or earlier when retention.content_max_bytes is reached. Submit the message anew.',
  );
}

/** Throws 409 for what was to be captured: it never leaves (contract §3.3). */
export function refuseTestMessage(message: MessageRecord): void {
  if (!message.test) return;
  throw new Problem(
    409,
    'test_key',
    'The message was only to be captured (sent with a test key, or with o:testmode) and never leaves. To send it, submit it anew with a live key and without o:testmode.',
  );
}
