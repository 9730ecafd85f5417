import type { Content, ContentRef, Recipient } from '../domain/message.ts';
import type { AcceptAnswer, AcceptRecord, AcceptWish, QueueLimits } from './accepting.ts';
import type { Stamp, Store } from './store.ts';

/** An incoming message: its contents, and what to record of it. */
export interface Taken {
  readonly messageId: string;
  readonly content: Content;
  readonly wish: AcceptWish;
  /** To whom it goes. */
  readonly recipients: readonly Pick<Recipient, 'address'>[];
  /** Its record, once the place of its contents is known. Called at most once. */
  readonly record: (content: ContentRef) => AcceptRecord;
}

/** How messages are taken. */
export interface TakingTerms {
  /** Called when the records are made. */
  readonly at: () => Stamp;
  readonly limits: QueueLimits;
  /** All of them or none, as `Store.accept` has it. */
  readonly together?: boolean;
  /** Called when the store counts the messages itself, or is about to refuse them. */
  readonly counted: () => void;
}

/**
 * Takes responsibility for messages, contents and records: contents are never less durable than the records that refer
 * to them. One answer each, in order, like `Store.accept`. Rejects with `SpoolError`, `StoreError`.
 */
export interface Taking {
  take(messages: readonly Taken[], terms: TakingTerms): Promise<AcceptAnswer[]>;
}

/** Storage of contents apart from the records; the spool is one. */
interface Contents {
  append(entries: readonly Pick<Taken, 'messageId' | 'content'>[]): Promise<ContentRef[]>;
  decided(refs: readonly ContentRef[]): void;
}

/** Takes messages if contents and records are stored apart: the contents first, so that no record lacks them. */
export function takingApart(contents: Contents, store: Pick<Store, 'accept'>): Taking {
  return {
    take: async (messages, { at, limits, together, counted }) => {
      const refs = await contents.append(messages.map(({ messageId, content }) => ({ messageId, content })));
      try {
        const records = recordsAt(messages, refs);
        counted();
        return await store.accept(records, at(), limits, together);
      } finally {
        contents.decided(refs);
      }
    },
  };
}

/** The records of messages whose contents are at these places. */
export function recordsAt(messages: readonly Taken[], refs: readonly ContentRef[]): AcceptRecord[] {
  return messages.map(({ record }, place) => {
    const ref = refs[place];
    if (ref === undefined) throw new Error('the spool gave no reference');
    return record(ref);
  });
}
