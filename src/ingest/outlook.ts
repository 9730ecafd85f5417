import type { MessageRecord, Priority } from '../domain/message.ts';
import { type LaneOutlook, type NextTry, nextTry, type Wait } from '../domain/next-try.ts';

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
