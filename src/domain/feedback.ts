/**
 * What others tell us about mail after we delivered it (contract A). Delivery status notifications, feedback reports,
 * hooks of providers and the API all become this one value; whoever applies it finds the message and its recipient.
 */

/**
 * - `bounce`: the recipient did not get it, and will not.
 * - `delayed`: somebody still tries; an event only.
 * - `confirmation`: the recipient's own server took it.
 * - `complaint`: the recipient called it spam.
 * - `not_spam`: the recipient took it out of the spam folder (RFC 6430); an event only.
 * - `auth_failure`: it failed SPF, DKIM or DMARC at the receiver (RFC 6591); counted only.
 * - `unsubscribe`: the recipient wants no more of this stream.
 * - `reply`: a program answered, such as a notice of absence; an event only.
 */
export const FEEDBACK_KINDS = [
  'bounce',
  'delayed',
  'confirmation',
  'complaint',
  'not_spam',
  'auth_failure',
  'unsubscribe',
  'reply',
] as const;

/** See {@link FEEDBACK_KINDS}. */
export type FeedbackKind = (typeof FEEDBACK_KINDS)[number];

/** The types of a bounce (contract A1), in the order in which they are decided: what it means for the address. */
export const BOUNCE_TYPES = ['hard', 'soft', 'block', 'provider_suppressed', 'undetermined'] as const;

/** See {@link BOUNCE_TYPES}. */
export type BounceType = (typeof BOUNCE_TYPES)[number];

/** The way that feedback came; `webhook:` is followed by the relay's name. */
export type FeedbackSource = 'smtp' | 'dsn' | 'arf' | 'one_click' | 'mailto' | 'api' | `webhook:${string}`;

/** What a token in one of our own addresses says, once verified (contract A2, A7). */
export interface FeedbackToken {
  /** Our id of the message. */
  readonly id: string;
  /** The recipient's number in the message, from 0; null if the copy was for several. */
  readonly recipient: number | null;
}

/**
 * The names by which the source knows the message: none, one or several. The first that leads to a message counts, in
 * the order of the members.
 */
export interface FeedbackMessage {
  readonly token: FeedbackToken | null;
  /** Our id, `msg_…`. */
  readonly id: string | null;
  /** The id that a relay gave it: the one of a `webhook:` source, otherwise any. */
  readonly providerMessageId: string | null;
  /** The Message-ID field, with its angle brackets. */
  readonly messageId: string | null;
}

/** Nothing is known of the message. */
export const NO_MESSAGE: FeedbackMessage = {
  token: null,
  id: null,
  providerMessageId: null,
  messageId: null,
};

/** Why mail bounced or is delayed, as far as it was said. */
export interface ToldBounce {
  /** What a provider called it; null if its type must be decided from the codes and the text. */
  readonly type: BounceType | null;
  /** SMTP reply code (RFC 5321 §4.2), 400 to 599. */
  readonly code: number | null;
  /** Enhanced status code (RFC 3463). */
  readonly enhancedCode: string | null;
  /** One line, see {@link feedbackText}; '' if nothing was said. Hostile. */
  readonly text: string;
}

/** Nothing was said of the cause. */
export const NO_FACTS: ToldBounce = { type: null, code: null, enhancedCode: null, text: '' };

/** One thing told of one recipient of one message. */
export interface Feedback {
  readonly kind: FeedbackKind;
  readonly source: FeedbackSource;
  readonly message: FeedbackMessage;
  /**
   * The address as the source wrote it, decoded; null if none was named. A token's number comes before it. What leads
   * to none of the message's recipients means the only one that it has, or nobody in particular.
   */
  readonly recipient: string | null;
  /** Other addresses that the same recipient may have in the message; tried in this order if `recipient` has no match. */
  readonly alternatives?: readonly string[];
  /** The source named several recipients and means only one of them: an event for each, and nobody is suppressed. */
  readonly oneOfSeveral?: true;
  /** For `bounce` and `delayed`; {@link NO_FACTS} for others. */
  readonly bounce: ToldBounce;
  /** Wall ms at which it happened; null if that was not said, and the time at which it came counts. */
  readonly at: number | null;
}

/** Most characters of a text that is kept with feedback (contract A5). */
export const MAX_FEEDBACK_TEXT = 500;
/** Characters that end a line or steer a display, and lone surrogates. */
const UNSHOWN = /[\p{C}\p{Z}]+/gu;

/** Hostile text as one line of at most {@link MAX_FEEDBACK_TEXT} characters; reads no more than it needs. */
export function feedbackText(text: string): string {
  const beginning = text.slice(0, 4 * MAX_FEEDBACK_TEXT).replace(UNSHOWN, ' ');
  return beginning.trim().slice(0, MAX_FEEDBACK_TEXT).toWellFormed().trim();
}
