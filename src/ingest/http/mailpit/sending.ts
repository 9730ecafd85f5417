import { z } from 'zod';
import { isFinal } from '../../../domain/delivery.ts';
import { formatMailbox } from '../../../domain/mailbox.ts';
import type { Call } from '../call.ts';
import type { AddressField, FieldName, NamedValue, PointTo } from '../fields.ts';
import { takeOne } from '../hand-over.ts';
import { anyCase } from '../json-object.ts';
import { attachmentOf, fileOf, type GivenMessage, readBody, toSubmission } from '../providers/submitting.ts';
import { accountOf } from './account.ts';
import type { MailpitDeps } from './mailbox.ts';

/** How Mailpit takes mail: `POST /api/v1/send` (contract-2 §G2). */

const address = anyCase({ Email: z.string(), Name: z.string().nullish() });
const addresses = () => z.array(address).nullish();

const attachment = anyCase({
  Content: z.string(),
  Filename: z.string().nullish(),
  ContentType: z.string().nullish(),
  ContentID: z.string().nullish(),
});

/** The body of a message. Its names ignore case, as Mailpit's do. */
const mailSchema = anyCase({
  From: address.nullish(),
  To: addresses(),
  Cc: addresses(),
  Bcc: z.array(z.string()).nullish(),
  ReplyTo: addresses(),
  Subject: z.string().nullish(),
  Text: z.string().nullish(),
  HTML: z.string().nullish(),
  Attachments: z.array(attachment).nullish(),
  Headers: z.record(z.string(), z.string()).nullish(),
  Tags: z.array(z.string()).nullish(),
});

type Mail = z.infer<typeof mailSchema>;

/** Takes a message into the box of its sender, and answers when it lies there, unless it comes there later. */
export async function sendMail(call: Call, deps: MailpitDeps): Promise<void> {
  const { box } = accountOf(call);
  const outcome = await takeOne(call, deps, async (budget) => {
    const mail = await readBody(call.exchange, mailSchema, deps, budget);
    const submission = await toSubmission(call, messageOf(mail, box), null, deps);
    return { submission, dryRun: false };
  });
  if (outcome.kind !== 'receipt') return;
  const { id } = outcome.receipt;
  await captured(call, id, deps);
  call.exchange.json(200, { ID: id });
}

/** How long an answer waits for the capture: clients look for the message as soon as they have its id. */
const CAPTURE_MS = 5000;
const REREAD_MS = 500;

/**
 * Resolves when a message is captured, or is not for a while: a recipient may ask for a late outcome, of which there is
 * nothing to await.
 */
async function captured({ exchange }: Call, id: string, deps: MailpitDeps): Promise<void> {
  const watch = deps.watchers.watch(id);
  if (watch === null) return;
  exchange.onEnd(() => watch.stop());
  const deadline = deps.clock.mono() + CAPTURE_MS;
  for (;;) {
    const detail = await deps.views.message(id);
    const leftMs = deadline - deps.clock.mono();
    if (detail === null || isFinal(detail.message.status) || watch.stopped || leftMs <= 0) break;
    const now = deps.clock.wall();
    if (detail.recipients.some(({ dueAt }) => dueAt !== null && dueAt > now)) break;
    await watch.wake.wait(deps.clock, Math.min(leftMs, REREAD_MS));
  }
  watch.stop();
}

/** A message of Mailpit's in our terms. One without any text is taken, as Mailpit does. */
function messageOf(mail: Mail, box: string | null): GivenMessage {
  const { From, Subject, Text, HTML, Attachments, Tags } = mail;
  return {
    fields: {
      from: From?.Email ? mailboxText(From) : null,
      to: addressesOf(mail.To),
      cc: addressesOf(mail.Cc),
      bcc: { texts: mail.Bcc ?? [], lists: false },
      subject: Subject ?? '',
      text: Text ?? (HTML ? null : ''),
      html: HTML || null,
      headers: headersOf(mail),
      attachments: (Attachments ?? []).map(attachmentFrom),
      tags: Tags ?? [],
      box,
    },
    pointTo: POINT_TO,
  };
}

function mailboxText({ Email, Name }: z.infer<typeof address>): string {
  return Name ? formatMailbox({ name: Name, address: Email }) : Email;
}

function addressesOf(given: Mail['To']): AddressField {
  return { texts: (given ?? []).map(mailboxText), lists: false };
}

function headersOf({ ReplyTo, Headers }: Mail): NamedValue[] {
  const replyTo = (ReplyTo ?? []).map(mailboxText).join(', ');
  return [...(replyTo === '' ? [] : [['Reply-To', replyTo] as const]), ...Object.entries(Headers ?? {})];
}

/** Some clients give a whole `data:` URL as the content; only its end is base64. */
function attachmentFrom({ Content, Filename, ContentType, ContentID }: z.infer<typeof attachment>) {
  return attachmentOf({
    filename: Filename || null,
    content: fileOf(Content.slice(Content.lastIndexOf(',') + 1)),
    contentType: ContentType || null,
    contentId: ContentID || null,
    disposition: ContentID ? 'inline' : null,
  });
}

/** Mailpit's names of our fields; it has none for the others. */
const NAMES: Partial<Record<FieldName, string>> = {
  from: 'From',
  to: 'To',
  cc: 'Cc',
  bcc: 'Bcc',
  subject: 'Subject',
  text: 'Text',
  html: 'HTML',
  headers: 'Headers',
  attachments: 'Attachments',
  tags: 'Tags',
};
const ATTACHMENT_NAMES = {
  filename: 'Filename',
  content: 'Content',
  contentType: 'ContentType',
  contentId: 'ContentID',
  disposition: 'ContentID',
} as const;

const POINT_TO: PointTo = (field, place, property) => {
  const at = `/${NAMES[field] ?? field}${place === undefined ? '' : `/${place}`}`;
  return property === undefined ? at : `${at}/${ATTACHMENT_NAMES[property]}`;
};
