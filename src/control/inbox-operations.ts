import { z } from 'zod';
import type { FoundMessage } from './search-operations.ts';

/** What operators can ask of captured mail, and do to it: a part of the operations. */
export interface InboxOperations {
  /** Captured messages, newest first. */
  inbox(request: InboxRequest): Promise<InboxPage>;
  /** Removes captured messages' contents and takes them out of the inbox; their records stay. */
  deleteCaptured(
    request: DeleteCapturedRequest,
  ): Promise<{ readonly deleted: number; readonly more: boolean }>;
  /** Sends a captured message on by a relay, as a new message. Never one of a test key. */
  releaseCaptured(request: ReleaseRequest): Promise<{ readonly id: string }>;
}

const id = z.string().max(64);

/** The shape of every request on captured mail. */
export const INBOX_REQUESTS = {
  inbox: z.strictObject({
    /** As for `search`. */
    query: z.string().max(500),
    /** Only mail of this key, by name or id; null for all. */
    key: z.string().max(100).nullable(),
    limit: z.int().min(1).max(200),
    before: id.nullable(),
  }),
  deleteCaptured: z.strictObject({
    /** Null: all of the key, or of every key; to be called again while `more`. */
    ids: z.array(id).min(1).max(500).nullable(),
    key: z.string().max(100).nullable(),
    /** Of all, only what is not newer than this message: what comes while it is being deleted stays. */
    upTo: id.nullable().default(null),
  }),
  releaseCaptured: z.strictObject({ id, relay: z.string().max(64) }),
};

/** See {@link InboxOperations.inbox}. */
export type InboxRequest = z.infer<typeof INBOX_REQUESTS.inbox>;
/** See {@link InboxOperations.deleteCaptured}. */
export type DeleteCapturedRequest = z.input<typeof INBOX_REQUESTS.deleteCaptured>;
/** See {@link InboxOperations.releaseCaptured}. */
export type ReleaseRequest = z.infer<typeof INBOX_REQUESTS.releaseCaptured>;

/** A page of captured mail. */
export interface InboxPage {
  readonly messages: readonly FoundMessage[];
  /** `before` of the next page; null when there is none. */
  readonly next: string | null;
  /** What the query could not be read as. */
  readonly notes: readonly string[];
  /** Bytes of captured contents that are kept, and how many may be. */
  readonly bytes: number;
  readonly maxBytes: number;
}
