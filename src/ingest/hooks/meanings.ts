import type { BounceType, FeedbackKind } from '../../domain/feedback.ts';
import type { HookType } from '../../domain/relay.ts';

/** What an event is to us. The type of a bounce is null where its codes decide it. */
export interface Meaning {
  readonly kind: FeedbackKind;
  readonly type: BounceType | null;
}

/** One row of the table, with the forms of events of each provider that mean it. */
interface Row extends Meaning, Readonly<Partial<Record<HookType, readonly string[]>>> {}

/**
 * What events mean (contract-2 §A4). A form is up to three of the provider's own words, `/` between them: what
 * happened, and the next finer words of its kind, as the provider's file says. `*` is any word, `x*` any that begins
 * so; words that a form lacks may be any. The form with the most words decides. An event without a form is ignored.
 */
// biome-ignore format: a table
const TABLE: readonly Row[] = [
  { kind: 'confirmation', type: null, ses: ['Delivery'], sendgrid: ['delivered'], mailgun: ['delivered'], postmark: ['Delivery'], resend: ['email.delivered'] },
  {
    kind: 'bounce', type: 'hard',
    ses: ['Bounce/Permanent'],
    sendgrid: ['bounce/bounce/5'],
    postmark: ['Bounce/HardBounce', 'Bounce/BadEmailAddress'],
    resend: ['email.bounced/Permanent'],
  },
  {
    kind: 'bounce', type: 'soft',
    ses: ['Bounce/Transient'],
    sendgrid: ['bounce/bounce/4', 'bounce/expired'],
    mailgun: ['failed/permanent/old'],
    postmark: ['Bounce/SoftBounce', 'Bounce/DnsError'],
    resend: ['email.bounced/Transient'],
  },
  {
    kind: 'bounce', type: 'block',
    ses: ['Bounce/*/ContentRejected', 'Bounce/*/AttachmentRejected', 'Reject'],
    // Drops that the account or the message caused, and not the address.
    sendgrid: ['bounce/blocked', 'dropped/Spam Content*', 'dropped/Invalid SMTPAPI*', 'dropped/Recipient List over*'],
    mailgun: ['rejected'],
    postmark: ['Bounce/SpamNotification', 'Bounce/Blocked', 'Bounce/DMARCPolicy', 'Bounce/VirusNotification'],
    resend: ['email.failed', 'email.bounced/*/ContentRejected', 'email.bounced/*/AttachmentRejected'],
  },
  {
    kind: 'bounce', type: 'provider_suppressed',
    // SES calls it a complaint where the recipient complained earlier, and does not try.
    ses: ['Bounce/*/Suppressed', 'Bounce/*/OnAccountSuppressionList', 'Complaint/*/OnAccountSuppressionList'],
    sendgrid: ['dropped'],
    mailgun: ['failed/permanent/suppress-*'],
    postmark: ['Bounce/ManuallyDeactivated', 'Bounce/Unconfirmed'],
    // Its bounces have the types of SES, by which it sends.
    resend: ['email.suppressed', 'email.bounced/*/Suppressed', 'email.bounced/*/OnAccountSuppressionList'],
  },
  { kind: 'bounce', type: 'undetermined', ses: ['Bounce'], postmark: ['Bounce/Unknown'], resend: ['email.bounced'] },
  { kind: 'bounce', type: null, sendgrid: ['bounce'], mailgun: ['failed/permanent'] },
  { kind: 'delayed', type: null, ses: ['DeliveryDelay'], sendgrid: ['deferred'], mailgun: ['failed/temporary'], postmark: ['Bounce/Transient'], resend: ['email.delivery_delayed'] },
  {
    kind: 'complaint', type: null,
    ses: ['Complaint'],
    sendgrid: ['spamreport'],
    mailgun: ['complained'],
    postmark: ['SpamComplaint', 'Bounce/SpamComplaint'],
    resend: ['email.complained'],
  },
  { kind: 'not_spam', type: null, ses: ['Complaint/not-spam'] },
  {
    kind: 'unsubscribe', type: null,
    ses: ['Subscription/OptOut'],
    sendgrid: ['unsubscribe', 'group_unsubscribe'],
    mailgun: ['unsubscribed'],
    postmark: ['SubscriptionChange/ManualSuppression/suppressed'],
  },
];

interface Form {
  readonly words: readonly string[];
  readonly meaning: Meaning;
}

/** By provider, those with the most words first. */
const FORMS: Readonly<Record<HookType, readonly Form[]>> = {
  ses: formsOf('ses'),
  sendgrid: formsOf('sendgrid'),
  mailgun: formsOf('mailgun'),
  postmark: formsOf('postmark'),
  resend: formsOf('resend'),
};

function formsOf(type: HookType): Form[] {
  const forms = TABLE.flatMap((row) =>
    (row[type] ?? []).map((form) => ({
      words: form.split('/'),
      meaning: { kind: row.kind, type: row.type },
    })),
  );
  return forms.sort((a, b) => b.words.length - a.words.length);
}

/** What an event means, by the provider's words for it; null: nothing here. */
export function meaningOf(type: HookType, words: readonly (string | null)[]): Meaning | null {
  const form = FORMS[type].find((form) => form.words.every((word, place) => fits(word, words[place] ?? '')));
  return form?.meaning ?? null;
}

function fits(form: string, word: string): boolean {
  return form.endsWith('*') ? word.startsWith(form.slice(0, -1)) : word === form;
}
