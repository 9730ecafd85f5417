import type { ProviderName } from '../domain/drop-in.ts';
import type {
  BodyFlags,
  ContentPart,
  ContentRef,
  HeaderSummary,
  Idempotency,
  Priority,
  Recipient,
  Source,
  TlsDemand,
} from '../domain/message.ts';
import { type Asking, domainOfFrom } from '../domain/suppression.ts';
import type { Stopped } from './telling.ts';

/** Accepting messages: requests and answers of `Store.accept` and `Store.foresee`. */

/** How long a repeat with the same idempotency key gets the first answer (contract §2). */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

/** A routed message on its way into the store. */
export interface AcceptRecord {
  readonly id: string;
  /** The time in the id. */
  readonly createdAt: number;
  readonly keyId: string | null;
  readonly test: boolean;
  readonly source: Source;
  /** As of the submission; absent: none. */
  readonly door?: ProviderName;
  /** As of the submission; absent: none. */
  readonly box?: string;
  /** As of the submission; absent: none. */
  readonly tls?: TlsDemand;
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
  /** Each recipient's copy, in envelope order; null: all have the same contents. */
  readonly copies: readonly ContentPart[] | null;
  readonly idempotency: Idempotency | null;
  /** A delivery status notification may go to the reverse-path. */
  readonly reportable: boolean;
  /** In the form of `streamKey`; null: none. */
  readonly stream: string | null;
  /** Only complaints stop it. */
  readonly ignoresSuppression: boolean;
  /** Version of the routing table that decided. */
  readonly routeTable: number;
  /** In envelope order. */
  readonly deliveries: readonly AcceptDelivery[];
}

/** What a record, or a submission, is for the suppression list. */
export function askingOf({
  keyId,
  test,
  header,
  stream,
  ignoresSuppression,
}: Pick<AcceptRecord, 'keyId' | 'test' | 'header' | 'stream' | 'ignoresSuppression'>): Asking {
  return { keyId, test, fromDomain: domainOfFrom(header.from), stream, ignores: ignoresSuppression };
}

/** One recipient of an accepted message. */
export interface AcceptDelivery {
  readonly recipient: Recipient;
  /** The chosen relay; null without a route: it stays queued. */
  readonly relay: string | null;
  /** Lane; null exactly when the relay is. */
  readonly lane: string | null;
  /** The rule that chose the group; null for the default relay. */
  readonly rule: string | null;
  /** Names of the relays it may use, in the order in which they are tried. */
  readonly group: readonly string[];
  /** Wall ms. */
  readonly dueAt: number;
  /** The fence of a lane lease that we hold, for the short way: leased in this very transaction. */
  readonly fence: number | null;
}

/** The answer of `accept` to one record. */
export type AcceptAnswer =
  | {
      readonly kind: 'accepted';
      /** For each delivery, whether the short way's lease was granted; with a stale fence it stays queued. */
      readonly leased: readonly boolean[];
      /** Recipients that the suppression list stopped; absent: none. */
      readonly suppressed?: readonly Stopped[];
    }
  | { readonly kind: 'replayed'; readonly id: string }
  | { readonly kind: 'idempotency_mismatch' }
  /**
   * The overall queue, or that of the record's key, is full; `tooLarge`: the record, or all
   * that are accepted together, would not fit even an empty one.
   */
  | { readonly kind: 'queue_full'; readonly whose: 'all' | 'key'; readonly tooLarge: boolean };

/** The fields of a record that decide whether there is room. See `Store.foresee`. */
export interface AcceptWish {
  readonly keyId: string | null;
  /** Size of the contents, in bytes. */
  readonly sizeBytes: number;
  readonly idempotency: Idempotency | null;
}

/** The room that a record needs. */
export function wishOfRecord({
  keyId,
  content,
  idempotency,
}: Pick<AcceptRecord, 'keyId' | 'content' | 'idempotency'>): AcceptWish {
  return { keyId, sizeBytes: content.length, idempotency };
}

/** See `Store.foresee`. */
export interface Foresight {
  /** `fits`: it would be accepted. */
  readonly answer: Exclude<AcceptAnswer, { readonly kind: 'accepted' }> | { readonly kind: 'fits' };
  /** Bytes left after this wish and those before it; negative if limits were lowered. */
  readonly bytesLeft: number;
  /** Messages of its key that fit then; unlimited without a key. */
  readonly messagesLeft: number;
}

/** Why a record is not accepted, other than that it was before. */
export type Refusal = Exclude<AcceptAnswer, { readonly kind: 'accepted' | 'replayed' }>;

/**
 * The first refusal among the answers foreseen for wishes that are granted together; null if there is none. It is for
 * good where no queue would hold all of them.
 */
export function firstRefusal(
  wishes: readonly AcceptWish[],
  answers: readonly Foresight['answer'][],
  { maxBytes }: QueueLimits,
): Refusal | null {
  for (const answer of answers) {
    if (answer.kind === 'idempotency_mismatch') return answer;
    if (answer.kind !== 'queue_full') continue;
    const bytes = wishes.reduce(
      (sum, { sizeBytes }, place) => (answers[place]?.kind === 'replayed' ? sum : sum + sizeBytes),
      0,
    );
    return bytes > maxBytes ? { kind: 'queue_full', whose: 'all', tooLarge: true } : answer;
  }
  return null;
}

/**
 * Why wishes cannot be granted together; null if they can. `foresee` answers each as if those before it were granted,
 * without regard to the idempotency keys of these.
 */
export function refusalOfAll(
  wishes: readonly AcceptWish[],
  foresee: (wishes: readonly AcceptWish[]) => readonly Foresight[],
  limits: QueueLimits,
): Refusal | null {
  const hashes = new Map<string, string>();
  for (const { keyId, idempotency } of wishes) {
    if (idempotency === null) continue;
    const name = JSON.stringify([keyId, idempotency.key]);
    if ((hashes.get(name) ?? idempotency.hash) !== idempotency.hash) return { kind: 'idempotency_mismatch' };
    hashes.set(name, idempotency.hash);
  }
  const answers = foresee(wishes).map(({ answer }) => answer);
  return firstRefusal(wishes, answers, limits);
}

/** Limits that refuse nothing. */
export const NO_LIMITS: QueueLimits = {
  maxBytes: Number.MAX_SAFE_INTEGER,
  maxMessagesPerKey: Number.MAX_SAFE_INTEGER,
};

/** Limits on what may wait. */
export interface QueueLimits {
  /** Bytes of contents of messages that are not final, over all keys. */
  readonly maxBytes: number;
  /** Messages of one key that are not final; mail without a key has no such limit. */
  readonly maxMessagesPerKey: number;
}
