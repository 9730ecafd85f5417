import type {
  BodyFlags,
  ContentRef,
  HeaderSummary,
  Idempotency,
  Priority,
  Recipient,
  Source,
} from '../domain/message.ts';

/** Accepting messages: what `Store.accept` and `Store.foresee` are asked and answer. */

/** How long a repeat under an idempotency key gets the first answer (contract §2). */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

/** A routed message on its way into the store. */
export interface AcceptRecord {
  readonly id: string;
  /** The time the id carries. */
  readonly createdAt: number;
  readonly keyId: string | null;
  readonly test: boolean;
  readonly source: Source;
  readonly sourceAddress: string | null;
  readonly reversePath: string;
  readonly ret: 'FULL' | 'HDRS' | null;
  readonly envid: string | null;
  readonly header: HeaderSummary;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  readonly flags: BodyFlags;
  readonly priority: Priority;
  readonly sendAt: number | null;
  readonly expiresAt: number;
  readonly content: ContentRef;
  readonly idempotency: Idempotency | null;
  /** A delivery status notification may go to the reverse-path. */
  readonly reportable: boolean;
  /** Version of the routing table that decided. */
  readonly routeTable: number;
  /** In envelope order. */
  readonly deliveries: readonly AcceptDelivery[];
}

/** One recipient of an accepted message. */
export interface AcceptDelivery {
  readonly recipient: Recipient;
  /** Relay chosen; null when no route was found: it stays queued. */
  readonly relay: string | null;
  /** Lane; null exactly when the relay is. */
  readonly lane: string | null;
  /** The rule that chose the group; null for the default relay. */
  readonly rule: string | null;
  /** Names of the relays it may go by, in the order in which they are tried. */
  readonly group: readonly string[];
  /** Wall ms. */
  readonly dueAt: number;
  /** The fence of a lane lease we hold, to take the short way: leased in this very transaction. */
  readonly fence: number | null;
}

/** What `accept` says of one record. */
export type AcceptAnswer =
  | {
      readonly kind: 'accepted';
      /** Per delivery, whether the short way's lease was granted; a stale fence leaves it queued. */
      readonly leased: readonly boolean[];
    }
  | { readonly kind: 'replayed'; readonly id: string }
  | { readonly kind: 'idempotency_mismatch' }
  /** The queue of everyone, or of the record's key, is full; `tooLarge`: the record fits not even when it is empty. */
  | { readonly kind: 'queue_full'; readonly whose: 'all' | 'key'; readonly tooLarge: boolean };

/** What of a record decides whether there is room for it. See `Store.foresee`. */
export interface AcceptWish {
  readonly keyId: string | null;
  /** Of the contents, in bytes. */
  readonly sizeBytes: number;
  readonly idempotency: Idempotency | null;
}

/** See `Store.foresee`. */
export interface Foresight {
  /** `fits`: it would be accepted. */
  readonly answer: Exclude<AcceptAnswer, { readonly kind: 'accepted' }> | { readonly kind: 'fits' };
  /** Bytes that fit after this wish and those before it; negative where limits were lowered. */
  readonly bytesLeft: number;
  /** Messages of its key that fit then; beyond all counting without a key. */
  readonly messagesLeft: number;
}

/** How much may wait that is not final. */
export interface QueueLimits {
  /** Bytes of contents of messages that are not final, over all keys. */
  readonly maxBytes: number;
  /** Messages of one key that are not final; those without a key have no such limit. */
  readonly maxMessagesPerKey: number;
}
