import type { RelayEventType } from '../domain/event.ts';
import type { BounceType, Feedback, FeedbackKind, FeedbackSource } from '../domain/feedback.ts';
import type { Reply } from '../domain/outcome.ts';
import type { SuppressionReason, SuppressionRules } from '../domain/suppression.ts';

/** What others tell of mail, and what became of it: requests and answers of the store's verbs. */

/** What came in at one time, and what it says. */
export interface Telling {
  /** `fbk_…` */
  readonly id: string;
  readonly source: FeedbackSource;
  readonly items: readonly TellingItem[];
  /** The beginning of what came, in base64; null: nothing is kept. */
  readonly evidence: { readonly contentType: string; readonly base64: string } | null;
  /** What matches nothing waits, and is tried again by `retell`. */
  readonly mayBeEarly: boolean;
  /** Wall ms: it is only kept, and applied by `retell` from then on. At most {@link MAX_AHEAD_MS} ahead; absent: at once. */
  readonly notBefore?: number;
  /** The key whose messages it may be about; absent: any. */
  readonly onlyOfKey?: string;
}

/** One thing told. */
export interface TellingItem {
  readonly feedback: Feedback;
  /** Its id at its source: what was told under it within {@link ONCE_MS} does not count again. Null: none. */
  readonly onceId: string | null;
  /** `sup_…`, for the entry of the suppression list that may follow. */
  readonly entryId: string;
}

/** How long ids of what was told are remembered. */
export const ONCE_MS = 7 * 86_400_000;
/** How long what may be early is tried again. */
export const EARLY_MS = 10 * 60_000;
/** How much early feedback may wait; what comes then is not kept for later. */
export const MAX_EARLY = 10_000;
/** How much may wait when something is told with `notBefore`; beyond it, that is not kept. */
export const MAX_PLANNED = 5000;
/** What waits for a time further ahead was told before the clock was set back, and is tried at once. */
export const MAX_AHEAD_MS = 60_000;

/** What decides whether something told suppresses an address. */
export interface TellRules extends SuppressionRules {
  /** Recipient domains of which no bounce suppresses anything at present. */
  readonly guarded: readonly string[];
}

/** See `Store.tell`. One result for each item, in order. */
export interface TellAnswer {
  readonly results: readonly ToldResult[];
}

/** What one thing told led to. */
export interface ToldResult {
  readonly kind: FeedbackKind;
  readonly source: FeedbackSource;
  /** `early`: it waits, and is tried later; `repeated`: it was told before under the same id. */
  readonly verdict: 'matched' | 'unmatched' | 'early' | 'repeated';
  /** It changed a state, what is known of a recipient, or the suppression list. */
  readonly changed: boolean;
  /** Nulls: nothing matched, or only the message. */
  readonly messageId: string | null;
  readonly address: string | null;
  readonly relay: string | null;
  /** Of a bounce that counted. */
  readonly bounce: BounceType | null;
  /** The entry that it made or renewed. */
  readonly entry: ToldEntry | null;
  /** How it counts for its recipient; null: it does not. */
  readonly counted: ToldCount | null;
}

/** See {@link ToldResult.counted}. */
export interface ToldCount {
  /** Something delivered came back, or was called spam. */
  readonly as: 'bounced' | 'complained';
  readonly keyId: string | null;
  readonly tags: readonly string[];
  /** Of a bounce. */
  readonly reply: Reply | null;
}

/** See {@link ToldResult.entry}. */
export interface ToldEntry {
  readonly id: string;
  /** In its normal form. */
  readonly address: string;
  readonly reason: SuppressionReason;
}

/** See `Store.retell`. */
export interface RetellAnswer {
  /** Those that are no longer tried again. */
  readonly results: readonly ToldResult[];
  /** Some still wait. */
  readonly waits: boolean;
  /** Wall ms at which something told with `notBefore` is due next; null: nothing is. */
  readonly nextAt: number | null;
  /** `after` of the next call; null: all were tried. */
  readonly next: string | null;
}

/** A failure of ours that may suppress its address: written with what caused it. */
export interface OwnBounce {
  /** The recipient's place in the envelope. */
  readonly index: number;
  readonly address: string;
  readonly type: BounceType;
  readonly code: number | null;
  readonly enhancedCode: string | null;
  readonly text: string;
  /** `sup_…` */
  readonly entryId: string;
}

/** Own bounces of one message, and the rules for them. */
export interface OwnBounces {
  readonly bounces: readonly OwnBounce[];
  readonly rules: TellRules;
}

/** A recipient that the suppression list stopped. */
export interface Stopped {
  /** Its place in the envelope. */
  readonly index: number;
  /** The entry's id. */
  readonly entry: string;
  readonly reason: SuppressionReason;
}

/** See `Store.tellRelays`. Times are wall ms. */
export interface RelayNews {
  readonly type: RelayEventType;
  readonly relay: string;
  /** Why it rests; null for other news. */
  readonly reply: Reply | null;
  /** Until when it rests at first; null: not known, and for other news. */
  readonly until: number | null;
  readonly at: number;
}
