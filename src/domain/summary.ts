import type { DeliveryState } from './delivery.ts';
import type { RecipientKind } from './envelope.ts';
import type { OutcomeName } from './outcome.ts';

/** What a message's summary needs to know of each recipient, in envelope order. */
export interface SummarizedRecipient {
  readonly address: string;
  readonly kind: RecipientKind;
  readonly state: DeliveryState;
  readonly outcome: OutcomeName | null;
  readonly relay: string | null;
  readonly providerMessageId: string | null;
  /** Wall ms; null when nothing waits. */
  readonly nextAttemptAt: number | null;
}

/** What a message's record says that follows from its recipients (contract §3.1, §4). */
export interface RecipientsSummary {
  readonly outcome: OutcomeName | 'partial' | null;
  readonly relay: string | null;
  readonly providerMessageId: string | null;
  readonly nextAttemptAt: number | null;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
}

/**
 * Sums up recipients: once all have ended, the outcome they share, or `partial` when they ended differently; relay
 * and provider id of the first delivered one, else of the first; the earliest due time of those that wait.
 */
export function summarizeRecipients(recipients: readonly SummarizedRecipient[]): RecipientsSummary {
  const shown = recipients.find(({ state }) => state === 'delivered') ?? recipients[0];
  const ofKind = (kind: RecipientKind) =>
    recipients.filter((recipient) => recipient.kind === kind).map(({ address }) => address);
  return {
    outcome: sharedOutcome(recipients),
    relay: shown?.relay ?? null,
    providerMessageId: shown?.providerMessageId ?? null,
    nextAttemptAt: earliest(recipients),
    to: ofKind('to'),
    cc: ofKind('cc'),
    bcc: ofKind('bcc'),
  };
}

/** Null as long as any recipient may still end otherwise. */
function sharedOutcome(recipients: readonly SummarizedRecipient[]): OutcomeName | 'partial' | null {
  const outcomes = new Set(recipients.map(({ outcome }) => outcome));
  if (outcomes.has(null)) return null;
  const [first = null] = outcomes;
  return outcomes.size > 1 ? 'partial' : first;
}

function earliest(recipients: readonly SummarizedRecipient[]): number | null {
  let first: number | null = null;
  for (const { nextAttemptAt } of recipients)
    if (nextAttemptAt !== null && (first === null || nextAttemptAt < first)) first = nextAttemptAt;
  return first;
}
