import type { Submission } from '../domain/message.ts';
import type { AcceptRecord } from '../store/accepting.ts';

/** What of a record is not decided on accepting it. */
export type RecordFacts = Omit<
  AcceptRecord,
  'id' | 'createdAt' | 'expiresAt' | 'content' | 'deliveries' | 'routeTable'
>;

/** What the store is told of a submission, besides what accepting decides. */
export function recordFactsOf(submission: Submission): RecordFacts {
  const { envelope, content, source, sourceAddress, keyId, test, reportable } = submission;
  const { header, tags, metadata, priority, sendAt, idempotency } = submission;
  const { reversePath, ret, envid } = envelope;
  const { sizeBytes, flags } = content;
  const origin = { source, sourceAddress, keyId, test, reportable, idempotency };
  return { ...origin, reversePath, ret, envid, header, tags, metadata, priority, sendAt, sizeBytes, flags };
}
