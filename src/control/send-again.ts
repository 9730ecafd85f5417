import { refuseTestMessage } from '../ingest/http/find-message.ts';
import { handOver } from '../ingest/http/hand-over.ts';
import { resubmission } from '../ingest/http/resend.ts';
import { readContent } from '../ingest/http/stored-content.ts';
import { refuseTooLarge } from '../ingest/http/submission-context.ts';
import type { MessageDetail } from '../store/views.ts';
import type { LocalDeps } from './local-deps.ts';
import { asOperationError } from './operation-error.ts';
import { operatorContext } from './operator-context.ts';

/** What sending a kept message again takes. */
export type SendAgainDeps = Pick<
  LocalDeps,
  'views' | 'spool' | 'keyring' | 'intake' | 'clock' | 'random' | 'resolution'
>;

/**
 * Sends a kept message once more, to all its recipients, as a new one of the same owner: as routing decides, or by one
 * relay alone. Throws `OperationError`: it is a test key's, or no longer kept; nothing is taken now.
 */
export async function sendAgain(
  detail: MessageDetail,
  token: string,
  via: string | null,
  deps: SendAgainDeps,
): Promise<{ readonly id: string }> {
  const { message } = detail;
  const { keyId, source } = message;
  try {
    refuseTestMessage(message);
    const bytes = await readContent(message, deps.spool, 409);
    const submission = resubmission({ ...detail, bytes }, operatorContext(token, deps));
    refuseTooLarge(submission.content.sizeBytes, deps.resolution().config.api.maxMessageBytes);
    const { name: keyName = null } = (await deps.keyring.list()).find(({ id }) => id === keyId) ?? {};
    const owner = {
      keyId,
      keyName,
      source: source === 'report' ? ('cli' as const) : source,
      sourceAddress: null,
    };
    const { id } = await handOver({ ...submission, ...owner, ...(via !== null && { via }) }, deps);
    return { id };
  } catch (error) {
    throw asOperationError(error);
  }
}
