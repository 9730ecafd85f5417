import type { Content, ContentRef } from '../domain/message.ts';
import type { AcceptAnswer, AcceptRecord, AcceptWish, QueueLimits } from './accepting.ts';
import type { Stamp, Store } from './store.ts';

/** A message on its way in, its contents and what is to be known of it. */
export interface Taken {
  readonly messageId: string;
  readonly content: Content;
  readonly wish: AcceptWish;
  /** Its facts, once the place of its contents is known. Called at most once. */
  readonly record: (content: ContentRef) => AcceptRecord;
}

/** How messages are taken. */
export interface TakingTerms {
  /** Asked when the records are made. */
  readonly at: () => Stamp;
  readonly limits: QueueLimits;
  /** Told when the store counts them itself, or is about to refuse them. */
  readonly counted: () => void;
}

/**
 * Makes messages ours, contents and facts: contents never less durable than the facts that refer to them. One answer
 * each, in order, as of `Store.accept`. Rejects with `SpoolError`, `StoreError`.
 */
export interface Taking {
  take(messages: readonly Taken[], terms: TakingTerms): Promise<AcceptAnswer[]>;
}

/** What contents are written to that lie apart from the facts; the spool is. */
interface Contents {
  append(entries: readonly Pick<Taken, 'messageId' | 'content'>[]): Promise<ContentRef[]>;
  decided(refs: readonly ContentRef[]): void;
}

/** Takes messages where contents and facts lie apart: the contents first, so that what refers to them never lacks them. */
export function takingApart(contents: Contents, store: Pick<Store, 'accept'>): Taking {
  return {
    take: async (messages, { at, limits, counted }) => {
      const refs = await contents.append(messages.map(({ messageId, content }) => ({ messageId, content })));
      try {
        const records = recordsAt(messages, refs);
        counted();
        return await store.accept(records, at(), limits);
      } finally {
        contents.decided(refs);
      }
    },
  };
}

/** The facts of messages whose contents lie at these places. */
export function recordsAt(messages: readonly Taken[], refs: readonly ContentRef[]): AcceptRecord[] {
  return messages.map(({ record }, place) => {
    const ref = refs[place];
    if (ref === undefined) throw new Error('the spool gave no reference');
    return record(ref);
  });
}
