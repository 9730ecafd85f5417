import type { Suspension } from '../../engine/intake.ts';
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

/** What nobody can send for now (contract §15): the queue or the disk is full, the store away, the service stopping. */
export function suspended({ code, detail }: Suspension): Refusal {
  switch (code) {
    case 'disk_full':
    case 'queue_limit':
      return decline(452, '4.3.1', detail);
    case 'store_unavailable':
      return decline(421, '4.3.0', detail);
    case 'shutting_down':
      return decline(421, '4.3.2', detail);
  }
}
