import type { DeliveryState } from './delivery.ts';
import type { RecipientKind } from './message.ts';
import { type Wait, waitOf } from './next-try.ts';
import type { OutcomeName } from './outcome.ts';

/** The fields of each recipient that a message's summary needs, in envelope order. */
export interface SummarizedRecipient {
  readonly address: string;
  readonly kind: RecipientKind;
  readonly state: DeliveryState;
  readonly outcome: OutcomeName | null;
  readonly relay: string | null;
  readonly providerMessageId: string | null;
  /** Where it waits, or waited last; null without a route. */
  readonly lane: string | null;
  /** Wall ms; null unless it waits. */
  readonly dueAt: number | null;
}

/** The fields of a message's record that follow from its recipients (contract §3.1, §4). */
export interface RecipientsSummary {
  readonly outcome: OutcomeName | 'partial' | null;
  readonly relay: string | null;
  readonly providerMessageId: string | null;
  /** What waits, one entry per lane: what comes due there first. */
  readonly waits: readonly Wait[];
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
}

/**
 * Summarizes recipients: once all are final, their common outcome, or `partial` if they differ; relay and provider id
 * of the first delivered one, else of the first; what waits, by lane.
 */
export function summarizeRecipients(recipients: readonly SummarizedRecipient[]): RecipientsSummary {
  const shown = recipients.find(({ state }) => state === 'delivered') ?? recipients[0];
  const ofKind = (kind: RecipientKind) =>
    recipients.filter((recipient) => recipient.kind === kind).map(({ address }) => address);
  return {
    outcome: sharedOutcome(recipients),
    relay: shown?.relay ?? null,
    providerMessageId: shown?.providerMessageId ?? null,
    waits: waitsOf(recipients),
    to: ofKind('to'),
    cc: ofKind('cc'),
    bcc: ofKind('bcc'),
  };
}

/** Null while any recipient may still end differently. */
function sharedOutcome(recipients: readonly SummarizedRecipient[]): OutcomeName | 'partial' | null {
  const outcomes = new Set(recipients.map(({ outcome }) => outcome));
  if (outcomes.has(null)) return null;
  const [first = null] = outcomes;
  return outcomes.size > 1 ? 'partial' : first;
}

function waitsOf(recipients: readonly SummarizedRecipient[]): readonly Wait[] {
  const byLane = new Map<string | null, Wait>();
  for (const recipient of recipients) {
    const wait = waitOf(recipient);
    const known = byLane.get(recipient.lane);
    if (wait !== null && (known === undefined || wait.dueAt < known.dueAt)) byLane.set(recipient.lane, wait);
  }
  return [...byLane.values()];
}
