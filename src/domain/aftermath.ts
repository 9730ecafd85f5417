/**
 * What becomes of a recipient after its delivery (contract-2 §0, §A): what is known besides the next hop's reply, and
 * what follows when somebody tells more.
 */
import { bounceTypeOf } from './bounce.ts';
import { type DeliveryState, isFinal } from './delivery.ts';
import type { EventType } from './event.ts';
import {
  type BounceType,
  type Feedback,
  type FeedbackKind,
  type FeedbackSource,
  feedbackText,
  type ToldBounce,
} from './feedback.ts';
import type { OutcomeName } from './outcome.ts';

/** What is known of a recipient besides its delivery. Times are wall ms; null: not known to have happened. */
export interface Aftermath {
  /** The recipient's own server took it, as a provider or a DSN told. */
  readonly confirmedAt: number | null;
  readonly bounce: Bounce | null;
  readonly complainedAt: number | null;
  readonly unsubscribedAt: number | null;
  /** The id of the entry of the suppression list that stopped it. */
  readonly suppression: string | null;
}

/** A recipient's bounce. */
export interface Bounce {
  readonly type: BounceType;
  readonly source: FeedbackSource;
  readonly code: number | null;
  readonly enhancedCode: string | null;
  /** One line. Hostile: written by a peer. */
  readonly text: string;
  readonly at: number;
}

/** Nothing more is known. */
export const NO_AFTERMATH: Aftermath = {
  confirmedAt: null,
  bounce: null,
  complainedAt: null,
  unsubscribedAt: null,
  suppression: null,
};

/**
 * The bounce of a recipient that failed in our own hands, where its entry is not kept: a refusal in our SMTP dialogue,
 * or an expiry. Null for every other end.
 */
export function ownBounce(
  { state, outcome, lastCode, lastEnhanced, lastReply }: FailedRecipient,
  at: number,
): Bounce | null {
  const isExpiry = outcome === 'expired';
  // Other codes are HTTP statuses: SMTP rejects with 5xx, and HTTP never does.
  const isRefusal = outcome === 'rejected' && lastCode !== null && lastCode >= 500;
  if (state !== 'failed' || !(isExpiry || isRefusal)) return null;
  const [enhanced, text] = [lastEnhanced, lastReply ?? ''];
  const type = bounceTypeOf({ code: lastCode, enhanced, text, expired: isExpiry });
  return { type, source: 'smtp', code: lastCode, enhancedCode: enhanced, text: feedbackText(text), at };
}

/** The fields of a recipient that tell of its failure. */
interface FailedRecipient {
  readonly state: DeliveryState;
  readonly outcome: OutcomeName | null;
  readonly lastCode: number | null;
  readonly lastEnhanced: string | null;
  readonly lastReply: string | null;
}

/** The type of a bounce: what a provider called it, else by its codes and words. */
function typeOfTold({ type, code, enhancedCode, text }: ToldBounce): BounceType {
  return type ?? bounceTypeOf({ code, enhanced: enhancedCode, text });
}

/** What follows for a recipient from one thing that was told. */
export interface Consequence {
  /** Null: it is no news. */
  readonly event: EventType | null;
  readonly aftermath: Aftermath;
  /** Its delivery becomes failed. */
  readonly bounces: boolean;
  /** What may suppress its address. */
  readonly suppresses: BounceType | 'complaint' | 'unsubscribe' | null;
}

/**
 * What follows at `at` (wall ms). `too_early`: it bounced, but its attempt is not recorded yet; tell it again, and in
 * the end with `isLate`.
 */
export function consequenceOf(
  feedback: Pick<Feedback, 'kind' | 'source' | 'bounce' | 'oneOfSeveral'>,
  { state, outcome }: { readonly state: DeliveryState; readonly outcome: OutcomeName | null },
  known: Aftermath,
  at: number,
  isLate: boolean,
): Consequence | 'too_early' {
  const nothing: Consequence = { event: null, aftermath: known, bounces: false, suppresses: null };
  const certain = <T>(cause: T) => (feedback.oneOfSeveral === true ? null : cause);
  switch (feedback.kind) {
    case 'bounce': {
      // What a hop refused, nobody tried, or has bounced is known not to have arrived.
      if (state === 'failed' && outcome !== 'unknown') return nothing;
      if (!isFinal(state) && !isLate) return 'too_early';
      // A second bounce is only more evidence, except of what was delivered since: it was retried, or told of too early.
      if (known.bounce !== null && state !== 'delivered') return nothing;
      const { code, enhancedCode, text } = feedback.bounce;
      const type = typeOfTold(feedback.bounce);
      const bounce = { type, source: feedback.source, code, enhancedCode, text, at };
      if (feedback.oneOfSeveral === true) return { ...nothing, event: 'message.bounced' };
      const aftermath = { ...known, bounce };
      return { event: 'message.bounced', aftermath, bounces: state === 'delivered', suppresses: type };
    }
    case 'delayed':
      return { ...nothing, event: 'message.delayed' };
    case 'confirmation':
      if (known.confirmedAt !== null) return nothing;
      return { ...nothing, event: 'message.confirmed', aftermath: { ...known, confirmedAt: at } };
    case 'complaint':
      if (known.complainedAt !== null) return nothing;
      return {
        ...nothing,
        event: 'message.complained',
        aftermath: feedback.oneOfSeveral === true ? known : { ...known, complainedAt: at },
        suppresses: certain('complaint'),
      };
    case 'unsubscribe':
      // Whoever was taken off the list since, and asks again, is asking anew.
      if (known.unsubscribedAt !== null) return { ...nothing, suppresses: certain('unsubscribe') };
      return {
        ...nothing,
        event: 'message.unsubscribed',
        aftermath: { ...known, unsubscribedAt: at },
        suppresses: certain('unsubscribe'),
      };
    case 'not_spam':
    case 'auth_failure':
    case 'reply':
      return nothing;
  }
}

/** The event of a whole message, where nobody knows which recipient is meant; null: none. */
export function eventWithoutRecipient(kind: FeedbackKind): EventType | null {
  return kind === 'complaint' ? 'message.complained' : null;
}
