import { localReply, type Reply } from '../domain/outcome.ts';
import type { Transition } from '../domain/settle.ts';

/** What becomes of deliveries that end while they wait, without an attempt. */

const ENDED = {
  state: 'failed',
  nextAttemptAt: null,
  next: null,
  providerMessageId: null,
  possibleDuplicate: false,
} as const;

/** On request. */
export const CANCELLED: Transition = {
  ...ENDED,
  outcome: 'cancelled',
  reply: localReply('cancelled', '5.7.0', 'cancelled on request'),
};

/** What the hop said last. */
export type LastReply = [code: number | null, enhanced: string | null, text: string];

/** For its age. Why it waited for so long stays: `last` is what was heard, null where nothing was. */
export function expired(last: LastReply | null): Transition {
  return { ...ENDED, outcome: 'expired', reply: last === null ? UNHEARD : saidLast(last) };
}

const UNHEARD = localReply('expired', '5.4.7', 'not delivered before it expired');

function saidLast([code, enhanced, text]: LastReply): Reply {
  return { code, enhanced, cause: 'expired', text };
}
