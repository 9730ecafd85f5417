import type { Feedback, FeedbackKind, FeedbackToken } from '../domain/feedback.ts';
import { NO_FACTS } from '../domain/feedback.ts';
import { type ReportedFacts, type ReturnedFacts, readFacts, readReturned } from './feedback-fields.ts';
import { fieldValue } from './header-block.ts';
import {
  parameterOf,
  type ReportField,
  type ReportPart,
  readFieldGroups,
  returnedFields,
} from './report-reading.ts';
import { parseDate } from './trace.ts';

/**
 * Reads the reports that mailbox providers send when somebody calls a message spam: in the Abuse Reporting Format (ARF,
 * RFC 5965, 6430, 6591), and in the forms of those who send the message without such a part.
 */

/**
 * How a report is written.
 * - `arf`: with a part message/feedback-report.
 * - `microsoft`: Outlook.com's Junk Mail Reporting Program: the message, with a field that names the recipient.
 * - `loop`: the message alone, from an address that sends nothing but complaints; so did AOL until 2008.
 */
export type ReportForm = 'arf' | 'microsoft' | 'loop';

/** What a feedback report says. Hostile: anybody can write one. */
export interface FeedbackReport extends ReportedFacts {
  readonly form: ReportForm;
  /** `unknown` for a type that no RFC defines, such as `opt-out`: `feedbackType` has it. */
  readonly kind: Extract<FeedbackKind, 'complaint' | 'not_spam' | 'auth_failure'> | 'unknown';
  /** Wall ms of the report's own Date field; null without one. */
  readonly reportedAt: number | null;
  /** Null if it returns neither the message nor its header. */
  readonly returned: ReturnedFacts | null;
}

/** RFC 5965 §3.5.1, RFC 6430, RFC 6591. */
const KINDS: ReadonlyMap<string, FeedbackReport['kind']> = new Map([
  ['abuse', 'complaint'],
  ['fraud', 'complaint'],
  ['virus', 'complaint'],
  ['other', 'complaint'],
  ['not-spam', 'not_spam'],
  ['auth-failure', 'auth_failure'],
]);

/** The report in a message of these parts; null if it is none. */
export function readFeedbackReport(parts: readonly ReportPart[]): FeedbackReport | null {
  return standardReport(parts, 0) ?? plainComplaint(parts) ?? forwardedReport(parts);
}

/** A report that was passed on as an attachment, as people do; never one that another report returns. */
function forwardedReport(parts: readonly ReportPart[]): FeedbackReport | null {
  return parts[0]?.type === 'multipart/report' ? null : standardReport(parts, 1);
}

function standardReport(parts: readonly ReportPart[], level: number): FeedbackReport | null {
  const part = parts.find((each) => each.level === level && each.type === 'message/feedback-report');
  const message = parts.find((each) => each.level === level);
  if (part === undefined || message === undefined) return null;
  const facts = readFacts(readFieldGroups(part.body).flat());
  return {
    ...facts,
    form: 'arf',
    kind: KINDS.get(facts.feedbackType) ?? 'unknown',
    reportedAt: dateOf(message),
    returned: returnedOf(returnedFields(parts, level)),
  };
}

function returnedOf(fields: readonly ReportField[] | null): ReturnedFacts | null {
  return fields === null ? null : readReturned(fields);
}

function dateOf({ fields }: ReportPart): number | null {
  return parseDate(fieldValue(fields, 'date') ?? '');
}

const MICROSOFT_FIELD = 'x-hmxmroriginalrecipient';
/**
 * Addresses that send complaints and nothing else, by their programmes' own pages and by lists of them in AbuseIO and
 * the ESP Coalition's pages.
 */
const LOOPS =
  /^(?:staff@hotmail\.com|scomp@aol\.(?:net|com)|feedback(?:loop)?@(?:[a-z0-9-]+\.)*(?:aol\.com|arf\.mail\.yahoo\.com|bluetie\.com|comcast\.net|cox\.net|fastmail\.com|hostedemail\.com|italiaonline\.net|rackspace\.com|returnpath\.net|rr\.com|senderscore\.net|synacor\.com|terra\.com|usa\.net|zoho\.com)|complaints@email-abuse\.amazonses\.com)$/;

/** A message that somebody called spam, without a part that says so. */
function plainComplaint(parts: readonly ReportPart[]): FeedbackReport | null {
  const [outer] = parts;
  if (outer === undefined) return null;
  // Forwarded by a mailbox that puts it on top of the message itself.
  if (fieldValue(outer.fields, MICROSOFT_FIELD) !== null)
    return complaintAbout(outer, 'microsoft', outer.fields);
  const fields = returnedFields(parts, 0);
  if (fields === null) return null;
  if (fieldValue(fields, MICROSOFT_FIELD) !== null) return complaintAbout(outer, 'microsoft', fields);
  const { from } = readReturned(outer.fields);
  const isLoop = LOOPS.test(from?.toLowerCase() ?? '') || fieldValue(outer.fields, 'x-loop') === 'scomp';
  return isLoop && parameterOf(outer, 'report-type') === null ? complaintAbout(outer, 'loop', fields) : null;
}

function complaintAbout(
  outer: ReportPart,
  form: ReportForm,
  returned: readonly ReportField[],
): FeedbackReport {
  return {
    ...readFacts([{ lowerName: 'feedback-type', value: 'abuse' }]),
    form,
    kind: 'complaint',
    reportedAt: dateOf(outer),
    returned: readReturned(returned),
  };
}

/** Recognises a token in an address or a URI of ours, and verifies it; null if there is none, or it is forged. */
export type RecogniseToken = (text: string) => FeedbackToken | null;

/**
 * What a report means (contract A3): one piece of feedback for each recipient that it names, or one without any;
 * none for an unknown type. The message is found by a token in its reverse-path, else by its Message-ID.
 */
export function feedbackOfReport(report: FeedbackReport, recognise: RecogniseToken): readonly Feedback[] {
  const { kind, returned, reportedAt } = report;
  if (kind === 'unknown') return [];
  const token = firstToken(placesOf(report), recognise);
  const common = {
    kind,
    source: 'arf',
    message: {
      token,
      id: null,
      providerMessageId: returned?.providerMessageId ?? null,
      messageId: returned?.messageId ?? report.messageId,
    },
    bounce: NO_FACTS,
    at: reportedAt,
  } as const;
  const named = recipientsOf(report);
  const [only = null, ...others] = named;
  if (others.length === 0) return [{ ...common, recipient: only }];
  // The token tells which of them.
  if (token !== null && token.recipient !== null) return [{ ...common, recipient: null }];
  return named.map((recipient) => ({ ...common, recipient, oneOfSeveral: true }));
}

function placesOf({ originalMailFrom, returned }: FeedbackReport): readonly string[] {
  return [originalMailFrom ?? '', ...(returned?.reversePaths ?? []), ...(returned?.unsubscribe ?? [])];
}

/** The first token in these addresses and URIs; '' has none. */
export function firstToken(places: readonly string[], recognise: RecogniseToken): FeedbackToken | null {
  for (const place of places) {
    const token = place === '' ? null : recognise(place);
    if (token !== null) return token;
  }
  return null;
}

function recipientsOf({ recipients, returned }: FeedbackReport): readonly string[] {
  if (recipients.length > 0) return recipients;
  const mailbox = returned?.deliveredTo ?? null;
  return mailbox === null ? [] : [mailbox];
}
