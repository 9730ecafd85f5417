import type { Bounce } from '../domain/aftermath.ts';
import type { Attempt } from '../domain/attempt.ts';
import type { ClaimOrder } from '../domain/lane.ts';
import { type ContentPart, type LastError, PRIORITIES, type Priority } from '../domain/message.ts';
import { localReply, type Outcome, type Reply } from '../domain/outcome.ts';
import type { Transition } from '../domain/settle.ts';
import type { SuppressionReason } from '../domain/suppression.ts';

/** How domain values are written into columns, in every database. */

/** A last reply as it is searched: as peers write it, with its codes. Null if there was none. */
export function replyLine(code: number | null, enhanced: string | null, reply: string | null): string | null {
  return reply === null ? null : [code, enhanced, reply].filter((part) => part !== null).join(' ');
}

/** The column form of a priority; lower goes first. */
export function rankOf(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

/** The priority of a rank. */
export function priorityOf(rank: number): Priority {
  return PRIORITIES[rank] ?? 'normal';
}

const RANKS: Readonly<Record<ClaimOrder, readonly number[]>> = {
  high_first: [rankOf('high'), rankOf('normal'), rankOf('bulk')],
  high_only: [rankOf('high')],
  bulk_first: [rankOf('bulk'), rankOf('normal'), rankOf('high')],
};

/** The ranks to claim, in this order. */
export function ranksOf(order: ClaimOrder): readonly number[] {
  return RANKS[order];
}

/** Reads a JSON column that this program wrote. */
export function fromJson<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** The column form of copies, `length:checksum,…`; null without any. */
export function fromCopies(copies: readonly ContentPart[] | null): string | null {
  return copies === null ? null : copies.map(({ length, checksum }) => `${length}:${checksum}`).join(',');
}

/** The copies in a column, in order. */
export function copiesOf(column: string | null): ContentPart[] | null {
  if (column === null) return null;
  let end = 0;
  return column.split(',').map((copy) => {
    const [length = 0, checksum = 0] = copy.split(':').map(Number);
    const start = end;
    end += length;
    return { start, length, checksum };
  });
}

/** The column form of a group of relays, whose names contain no comma; null for none. */
export function fromGroup(group: readonly string[]): string | null {
  return group.length === 0 ? null : group.join(',');
}

/** The names in a group; empty for mail accepted before there were groups. */
export function groupOf(column: string | null): string[] {
  return column === null ? [] : column.split(',');
}

// How deliveries end while they wait, without an attempt.

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

/** Stopped by an entry of the suppression list. */
export function suppressed(recipient: string, reason: SuppressionReason): Transition {
  const text = `${recipient} is suppressed: ${reason}`;
  return { ...ENDED, outcome: 'suppressed', reply: localReply('suppressed', '5.7.1', text) };
}

/** Bounced after its delivery. */
export function bounced({ code, enhancedCode, text }: Bounce): Transition {
  return { ...ENDED, outcome: 'bounced', reply: { code, enhanced: enhancedCode, cause: 'bounced', text } };
}

/** The hop's last reply. */
export type LastReply = [code: number | null, enhanced: string | null, text: string];

/** Expired. `last`, the last reply, shows why it waited so long; null if there was none. */
export function expired(last: LastReply | null): Transition {
  return { ...ENDED, outcome: 'expired', reply: last === null ? UNHEARD : saidLast(last) };
}

const UNHEARD = localReply('expired', '5.4.7', 'not delivered before it expired');

function saidLast([code, enhanced, text]: LastReply): Reply {
  return { code, enhanced, cause: 'expired', text };
}

const CLASSES: Readonly<Record<Outcome['kind'], LastError['class']>> = {
  delivered: 'unknown',
  deferred: 'transient',
  rejected: 'permanent',
  unknown: 'unknown',
};

/** The class of an attempt's outcome for the recipient at this place of the envelope. */
export function classOf(attempt: Attempt, index: number): LastError['class'] {
  const kind = attempt.results.find((result) => result.index === index)?.outcome.kind ?? 'unknown';
  return CLASSES[kind];
}

/** The error of a recipient, as the message keeps it. */
export function lastErrorOf(reply: Reply, kind: LastError['class'], recipient: string): LastError {
  return {
    code: reply.cause,
    class: kind,
    message: reply.text,
    recipient,
    ...(reply.code === null ? {} : { replyCode: reply.code }),
    ...(reply.enhanced === null ? {} : { enhancedCode: reply.enhanced }),
  };
}
