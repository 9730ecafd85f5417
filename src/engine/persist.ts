import type { Submission } from '../domain/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { AcceptRecord } from '../store/accepting.ts';
import { StoreError } from '../store/store.ts';

/** The pause before a write that the store could not take is repeated, in ms. */
const RETRY_MS = 1_000;

const PASSING: ReadonlySet<string> = new Set(['store_full', 'store_busy', 'store_unavailable']);

/**
 * Writes something that must be recorded, however long the store is full or unavailable. `twice` says whether the write
 * may be repeated after it may have taken effect. Null if the store can never take it (failed, closed), it must not be
 * repeated, or `giveUp` aborts: the node that finds the lease later decides.
 */
export async function persist<T>(
  clock: Clock,
  giveUp: AbortSignal,
  twice: 'harmless' | 'harmful',
  write: () => Promise<T>,
): Promise<T | null> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (!PASSING.has(error.code)) return null;
      if (twice === 'harmful' && isAmbiguous(error)) return null;
      await clock.sleep(RETRY_MS, giveUp);
      if (giveUp.aborted) return null;
    }
  }
}

/** Whether a failed request may have taken effect. */
export function isAmbiguous(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'store_unavailable';
}

/** The fields of a record that accepting does not decide. */
type RecordFacts = Omit<
  AcceptRecord,
  'id' | 'createdAt' | 'expiresAt' | 'content' | 'copies' | 'deliveries' | 'routeTable'
>;

/** What the store is told of a submission, besides what accepting decides. */
export function recordFactsOf(submission: Submission): RecordFacts {
  const { envelope, content, source, door, box, tls, sourceAddress, keyId, test, reportable } = submission;
  const { stream, ignoresSuppression, header, tags, metadata, priority, sendAt, idempotency } = submission;
  const { reversePath, ret, envid } = envelope;
  const { sizeBytes, flags } = content;
  const origin = { source, sourceAddress, keyId, test, reportable, idempotency };
  const listed = { stream, ignoresSuppression };
  return {
    ...origin,
    ...(door !== undefined && { door }),
    ...(box !== undefined && { box }),
    ...(tls !== undefined && { tls }),
    ...listed,
    reversePath,
    ret,
    envid,
    header,
    tags,
    metadata,
    priority,
    sendAt,
    sizeBytes,
    flags,
  };
}

/** Work that waits in a lane, and when it comes due (wall ms). */
export interface Wait {
  readonly lane: string;
  readonly dueAt: number;
}
