import type { MessageRecord, Priority } from '../domain/message.ts';
import { type LaneOutlook, type NextTry, nextTry, type Wait } from '../domain/next-try.ts';

/** What ingest needs from the rest of the service: operations, and what waiting mail waits for. */

/** The calling key, and its source address. */
export interface AdminCaller {
  readonly keyName: string;
  readonly sourceAddress: string;
}

/** Receives the steps of long work, and says when nobody waits for it any more. */
export interface AdminProgress {
  tell(step: unknown): void;
  readonly signal: AbortSignal;
}

/**
 * The operations of operators, for scripts that call them over HTTP with a key. Requests and results are opaque here. A
 * refusal is a `Problem`.
 */
export interface AdminDoor {
  /** Most bytes of a request for this operation; null: it does not exist. */
  maxRequestBytes(operation: string): number | null;
  /** Runs the operation. Returns plain JSON. */
  call(caller: AdminCaller, operation: string, request: unknown, progress: AdminProgress): Promise<unknown>;
  /** As {@link call}, for operations with an API endpoint: a refusal has that endpoint's code. */
  act(caller: AdminCaller, operation: string, request: unknown): Promise<unknown>;
}

/** Finds what the waiting recipients of these messages wait for, with one look at their lanes for a whole answer. */
export type Outlook = (messages: readonly MessageRecord[]) => Promise<LanesSeen>;

/** A snapshot of some messages' lanes. Plain values: they may come from another thread. */
export interface LanesSeen {
  /** Wall ms. */
  readonly now: number;
  /** Keyed by {@link laneSeen}. */
  readonly lanes: ReadonlyMap<string, LaneOutlook>;
}

/** The key in {@link LanesSeen} of a lane and a priority. */
export function laneSeen(lane: string, priority: Priority): string {
  return `${priority} ${lane}`;
}

/** When a waiting recipient of one of those messages is tried next. */
export function nextTryOf(message: MessageRecord, wait: Wait, { now, lanes }: LanesSeen): NextTry {
  const lane = wait.lane === null ? null : (lanes.get(laneSeen(wait.lane, message.priority)) ?? null);
  return nextTry(wait, lane, { now, expiresAt: message.expiresAt });
}
