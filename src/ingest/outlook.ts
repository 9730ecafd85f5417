import type { MessageRecord } from '../domain/message.ts';
import type { NextTry, Wait } from '../domain/next-try.ts';

/** Finds out when what of these messages waits is really tried next: one look at their lanes for a whole answer. */
export type Outlook = (messages: readonly MessageRecord[]) => Promise<Tries>;

/** When something is tried next that waits, of one of those messages. */
export type Tries = (message: MessageRecord, wait: Wait) => NextTry;
