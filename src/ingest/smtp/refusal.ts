import { type SessionReply, sessionReply } from '../../smtp/receiver/session-reply.ts';

/** What a client is told, and, where it is not allowed what it asks, why: that is counted as denied and logged. */
export interface Refusal {
  readonly reply: SessionReply;
  /** A code that an operator can search for; null for what nobody was denied, such as a full disk. */
  readonly denied: string | null;
}

/** Refuses somebody what they may not do. */
export function deny(reason: string, code: number, enhanced: string, text: string): Refusal {
  return { reply: sessionReply(code, enhanced, text), denied: reason };
}

/** Refuses what anybody would be refused. */
export function decline(code: number, enhanced: string, text: string): Refusal {
  return { reply: sessionReply(code, enhanced, text), denied: null };
}
