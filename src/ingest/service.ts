import type { MessageRecord, Priority } from '../domain/message.ts';
import { type LaneOutlook, type NextTry, nextTry, type Wait } from '../domain/next-try.ts';

/** What ingest asks of the rest of the service: operations, and what waiting mail waits for. */

/** The key that asks, and where from. */
export interface AdminCaller {
  readonly keyName: string;
  readonly sourceAddress: string;
}

/** Hears of the steps of work that takes a while, and tells when nobody waits for it any more. */
export interface AdminProgress {
  tell(step: unknown): void;
  readonly signal: AbortSignal;
}

/**
 * The operations of operators, as scripts ask for them over HTTP with a key. What each takes and gives is not known
 * here. What is refused is a `Problem`.
 */
export interface AdminDoor {
  /** Bytes that a request of this operation may have; null: there is no such operation. */
  maxRequestBytes(operation: string): number | null;
  /** Does it. Gives plain JSON. */
  call(caller: AdminCaller, operation: string, request: unknown, progress: AdminProgress): Promise<unknown>;
  /** As {@link call}, for what the API has an endpoint for: a refusal has the code that this endpoint gives. */
  act(caller: AdminCaller, operation: string, request: unknown): Promise<unknown>;
}

/** Finds out what the mail of these messages that waits, waits for: one look at their lanes for a whole answer. */
export type Outlook = (messages: readonly MessageRecord[]) => Promise<LanesSeen>;

/** The lanes of some messages as they were at a moment. Plain values: they may come from another thread. */
export interface LanesSeen {
  /** Wall ms. */
  readonly now: number;
  /** By {@link laneSeen}. */
  readonly lanes: ReadonlyMap<string, LaneOutlook>;
}

/** How mail of a priority in a lane is called in {@link LanesSeen}. */
export function laneSeen(lane: string, priority: Priority): string {
  return `${priority} ${lane}`;
}

/** When something is tried next that waits, of one of those messages. */
export function nextTryOf(message: MessageRecord, wait: Wait, { now, lanes }: LanesSeen): NextTry {
  const lane = wait.lane === null ? null : (lanes.get(laneSeen(wait.lane, message.priority)) ?? null);
  return nextTry(wait, lane, { now, expiresAt: message.expiresAt });
}
