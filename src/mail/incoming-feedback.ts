import { type Feedback, type FeedbackToken, NO_FACTS } from '../domain/feedback.ts';
import { type BounceReading, readBounce } from './bounce-reading.ts';
import type { DeliveryAction, RecipientStatus } from './delivery-status.ts';
import { readAddresses, sesIdOf } from './feedback-fields.ts';
import {
  feedbackOfReport,
  firstToken,
  type RecogniseToken,
  type ReportForm,
  readFeedbackReport,
} from './feedback-report.ts';
import { fieldValue } from './header-block.ts';
import { type ReportPart, readReportParts } from './report-reading.ts';
import { parseDate } from './trace.ts';

/**
 * What mail that comes in tells of our mail (contract A3), whatever it is: a delivery status notification, a bounce in
 * words, an automatic reply, a complaint. Mail to a return path and a mailbox that is piped to the API are read alike.
 */

/** A message that came in, and what is known of how it came. */
export interface IncomingMail {
  readonly bytes: Uint8Array;
  /** '' for the null reverse-path; null if it is not known, as over the API. */
  readonly reversePath: string | null;
  /** What the address says that it came to; null if it came to one without a token, or that is not known. */
  readonly token: FeedbackToken | null;
}

/** What a message turned out to be. */
export interface ReadFeedback {
  /** `undetermined`: nothing that is known; it is kept as evidence and counted. */
  readonly form: ReportForm | BounceReading['kind'];
  /** Empty for what tells nothing of any mail of ours. */
  readonly feedback: readonly Feedback[];
}

/** Reads what a message tells. Never throws; reads no more than the limits of `report-reading.ts`. */
export function readIncomingFeedback(mail: IncomingMail, recognise: RecogniseToken): ReadFeedback {
  const parts = readReportParts(mail.bytes);
  const report = readFeedbackReport(parts);
  if (report !== null) return { form: report.form, feedback: feedbackOfReport(report, recognise) };
  const reading = readBounce(parts, mail.reversePath);
  return { form: reading.kind, feedback: feedbackOfBounce(reading, mail, parts, recognise) };
}

function feedbackOfBounce(
  reading: BounceReading,
  mail: IncomingMail,
  [outer]: readonly ReportPart[],
  recognise: RecogniseToken,
): readonly Feedback[] {
  const { kind, returned } = reading;
  if (kind === 'undetermined') return [];
  const token = mail.token ?? firstToken([returned?.returnPath ?? '', ...addressees(outer)], recognise);
  const common = {
    source: 'dsn',
    message: {
      token,
      id: null,
      providerMessageId: sesIdOf(returned?.messageId ?? null),
      messageId: returned?.messageId ?? null,
    },
    at: parseDate(fieldValue(outer?.fields ?? [], 'date') ?? ''),
  } as const;
  if (kind === 'reply') return [{ ...common, kind, recipient: null, bounce: NO_FACTS }];
  return reading.recipients.flatMap((status) => {
    const meaning = status.action === null ? undefined : MEANINGS[status.action];
    if (meaning === undefined) return [];
    const [recipient = null, ...alternatives] = addressesOf(status);
    const others = alternatives.length === 0 ? {} : { alternatives };
    const bounce = meaning === 'confirmation' ? NO_FACTS : factsOf(status);
    return [{ ...common, kind: meaning, recipient, ...others, bounce }];
  });
}

const MEANINGS: Readonly<Record<DeliveryAction, Feedback['kind']>> = {
  failed: 'bounce',
  delayed: 'delayed',
  delivered: 'confirmation',
  relayed: 'confirmation',
  expanded: 'confirmation',
};

function factsOf({ code, enhancedCode, text }: RecipientStatus): Feedback['bounce'] {
  return { type: null, code, enhancedCode, text };
}

/** The addresses of a recipient in the order in which they are tried: the one given by its sender goes first. */
function addressesOf({ originalRecipient, finalRecipient }: RecipientStatus): readonly string[] {
  const named = [originalRecipient, finalRecipient].filter((address) => address !== null);
  return [...new Set(named.flatMap(({ address, decoded }) => [address, decoded]))];
}

/** Where a mailbox that is piped shows to which of its addresses the message came. */
const ADDRESSEE_FIELDS = ['x-original-to', 'delivered-to', 'envelope-to', 'to'];

function addressees(outer: ReportPart | undefined): readonly string[] {
  return ADDRESSEE_FIELDS.flatMap((name) => readAddresses(outer?.fields ?? [], name));
}
