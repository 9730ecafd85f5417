import { z } from 'zod';
import { formatMailbox } from '../../../../domain/mailbox.ts';
import { parseMediaType } from '../../../../http/media-type.ts';
import { pointerToken } from '../../../../http/problem.ts';
import { formatTimestamp } from '../../../../lib/clock.ts';
import type { AddressField, AttachmentField, FieldName, NamedValue, PointTo } from '../../fields.ts';
import { attachmentOf, fileOf, type GivenMessage } from '../submitting.ts';
import { Substitutions } from './substitutions.ts';

/** SendGrid's fields, and what they are in ours (contract-2 §C4). */

const address = z.strictObject({ email: z.string().nullish(), name: z.string().nullish() });
const addresses = () => z.array(address).nullish();
const texts = () => z.record(z.string(), z.string()).nullish();
/** Applications give numbers, too. */
const customArgs = () => z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish();
/** Seconds of the epoch, up to the end of the year 9999. */
const seconds = z.int().min(0).max(253_402_300_799);

const attachment = z.strictObject({
  content: z.string(),
  filename: z.string().nullish(),
  type: z.string().nullish(),
  disposition: z.string().nullish(),
  content_id: z.string().nullish(),
  /** As the Node SDK sends it where it is given so. */
  contentId: z.string().nullish(),
});

const personalization = z.strictObject({
  to: addresses(),
  cc: addresses(),
  bcc: addresses(),
  from: address.nullish(),
  subject: z.string().nullish(),
  headers: texts(),
  substitutions: texts(),
  custom_args: customArgs(),
  send_at: seconds.nullish(),
  dynamic_template_data: z.record(z.string(), z.unknown()).nullish(),
});

/** What is on or off, whatever else belongs to it. */
const feature = () => z.looseObject({ enable: z.boolean().nullish() }).nullish();

const mailSettings = z.strictObject({
  sandbox_mode: feature(),
  bypass_list_management: feature(),
  bypass_bounce_management: feature(),
  bypass_spam_management: feature(),
  bypass_unsubscribe_management: feature(),
  bcc: feature(),
  footer: feature(),
  spam_check: feature(),
});

const trackingSettings = z.strictObject({
  click_tracking: feature(),
  open_tracking: z
    .looseObject({ enable: z.boolean().nullish(), substitution_tag: z.string().nullish() })
    .nullish(),
  subscription_tracking: feature(),
  ganalytics: feature(),
});

/** SendGrid takes as many. */
const MAX_PERSONALIZATIONS = 1000;

/** The body of `POST /v3/mail/send`. */
export const mailSchema = z.strictObject({
  personalizations: z.array(personalization).min(1).max(MAX_PERSONALIZATIONS),
  from: address.nullish(),
  reply_to: address.nullish(),
  reply_to_list: addresses(),
  subject: z.string().nullish(),
  content: z.array(z.strictObject({ type: z.string(), value: z.string() })).nullish(),
  attachments: z.array(attachment).nullish(),
  categories: z.array(z.string()).nullish(),
  custom_args: customArgs(),
  headers: texts(),
  send_at: seconds.nullish(),
  mail_settings: mailSettings.nullish(),
  tracking_settings: trackingSettings.nullish(),
  asm: z.unknown().optional(),
  batch_id: z.unknown().optional(),
  ip_pool_name: z.unknown().optional(),
  template_id: z.string().nullish(),
  /** Not offered: refused where they are given. */
  sections: texts(),
});

/** See {@link mailSchema}. */
export type Mail = z.infer<typeof mailSchema>;
/** One of its messages. */
export type Personalization = Mail['personalizations'][number];

/** The types that a part of the content may have. */
export const CONTENT_TYPES: readonly string[] = ['text/plain', 'text/html', 'text/calendar'];

/** The type of a part of the content, in lower case and without parameters. */
export function typeOf({ type }: { readonly type: string }): string {
  if (CONTENT_TYPES.includes(type)) return type;
  return parseMediaType(type)?.type ?? type.toLowerCase();
}

/** Characters of a mail that each of its messages is made of. */
export function sharedLength({ subject, content, attachments, headers, custom_args }: Mail): number {
  let length = subject?.length ?? 0;
  for (const { value } of content ?? []) length += value.length;
  for (const one of attachments ?? []) length += one.content.length;
  for (const [name, value] of Object.entries({ ...headers, ...custom_args }))
    length += name.length + String(value).length;
  return length;
}

/** The one of a mail's messages at this place, in our terms. Throws a `Problem`: 400, 413. */
export function messageOf(
  mail: Mail,
  place: number,
  { idempotencyKey, maxBytes }: { readonly idempotencyKey: string | null; readonly maxBytes: number },
): GivenMessage {
  const personal: Personalization = mail.personalizations[place] ?? {};
  const substitutions = new Substitutions(
    [...Object.entries(personal.substitutions ?? {}), ...openTrackingTag(mail)],
    `/personalizations/${place}/substitutions`,
    maxBytes,
  );
  const sendAt = personal.send_at ?? mail.send_at;
  return {
    fields: {
      from: mailboxOf(personal.from ?? mail.from),
      to: addressesOf(personal.to),
      cc: addressesOf(personal.cc),
      bcc: addressesOf(personal.bcc),
      // The template's subject wins, as it does there.
      subject: mail.template_id ? '' : substitutions.in(personal.subject || mail.subject || ''),
      text: substitutions.in(contentOf(mail, 'text/plain')) || null,
      html: substitutions.in(contentOf(mail, 'text/html')) || null,
      template: mail.template_id || null,
      variables: mail.template_id ? (personal.dynamic_template_data ?? {}) : null,
      headers: headersOf(mail, personal, idempotencyKey),
      attachments: [...(mail.attachments ?? []).map(attachmentFrom), ...calendarsOf(mail)],
      tags: mail.categories ?? [],
      sendAt: sendAt == null ? null : formatTimestamp(sendAt * 1000),
      metadata: Object.entries({ ...mail.custom_args, ...personal.custom_args }).map(
        ([name, value]): NamedValue => [name, String(value)],
      ),
      suppression: mail.mail_settings?.bypass_list_management?.enable === true ? 'ignore' : null,
    },
    pointTo: pointerInto(mail, place),
  };
}

/** SendGrid puts the picture in its place that reports the opening; we put nothing there. */
function openTrackingTag({ tracking_settings }: Mail): NamedValue[] {
  const tag = tracking_settings?.open_tracking?.substitution_tag;
  return tag ? [[tag, '']] : [];
}

function mailboxOf(given: z.infer<typeof address> | null | undefined): string | null {
  if (!given?.email) return null;
  return formatMailbox({ name: given.name || null, address: given.email });
}

function addressesOf(given: Personalization['to']): AddressField {
  return { texts: (given ?? []).map((one) => mailboxOf(one) ?? ''), lists: false };
}

function contentOf({ content }: Mail, type: string): string {
  return content?.find((part) => typeOf(part) === type)?.value ?? '';
}

/** Those of one message win over those of all. */
function headersOf(mail: Mail, personal: Personalization, idempotencyKey: string | null): NamedValue[] {
  const headers = new Map<string, NamedValue>();
  const replyTo = (mail.reply_to_list ?? [mail.reply_to]).flatMap((one) => mailboxOf(one) ?? []);
  if (replyTo.length > 0) headers.set('reply-to', ['Reply-To', replyTo.join(', ')]);
  const given = [...Object.entries(mail.headers ?? {}), ...Object.entries(personal.headers ?? {})];
  for (const [name, value] of given) {
    const lower = name.toLowerCase();
    // The Node SDK sends headers both ways: this one has acted as the request's.
    if (lower === 'idempotency-key' && value === idempotencyKey) continue;
    if (value !== '') headers.set(lower, [name, value]);
  }
  return [...headers.values()];
}

function attachmentFrom(given: z.infer<typeof attachment>): AttachmentField {
  const { content, filename, type, disposition, content_id, contentId } = given;
  return attachmentOf({
    filename: filename || null,
    content: fileOf(content),
    contentType: type || null,
    contentId: content_id || contentId || null,
    disposition: disposition || null,
  });
}

function calendarsOf({ content }: Mail): AttachmentField[] {
  return (content ?? [])
    .filter((part) => typeOf(part) === 'text/calendar')
    .map(({ type, value }) =>
      attachmentOf({ filename: 'invite.ics', content: Buffer.from(value), contentType: type }),
    );
}

const ATTACHMENT_NAMES: Readonly<Record<keyof AttachmentField, string>> = {
  filename: 'filename',
  content: 'content',
  contentType: 'type',
  contentId: 'content_id',
  disposition: 'disposition',
};

/** Where SendGrid has each field of all its messages, where its name is another. */
const NAMES: Partial<Record<FieldName, string>> = {
  from: '/from/email',
  text: '/content',
  html: '/content',
  template: '/template_id',
  tags: '/categories',
  metadata: '/custom_args',
  sendAt: '/send_at',
  suppression: '/mail_settings/bypass_list_management',
};

function pointerInto(mail: Mail, place: number): PointTo {
  const own = `/personalizations/${place}`;
  const personal: Personalization = mail.personalizations[place] ?? {};
  const isOwn = (given: object | null | undefined, name: number | string | undefined) =>
    given != null && name !== undefined && Object.hasOwn(given, name);
  return (field, at, property) => {
    const inner = at === undefined ? '' : `/${pointerToken(String(at))}`;
    switch (field) {
      case 'to':
      case 'cc':
      case 'bcc':
        return at === undefined ? `${own}/${field}` : `${own}/${field}${inner}/email`;
      case 'from':
        return personal.from == null ? '/from/email' : `${own}/from/email`;
      case 'subject':
        return personal.subject ? `${own}/subject` : '/subject';
      case 'variables':
        return `${own}/dynamic_template_data`;
      case 'sendAt':
        return personal.send_at == null ? '/send_at' : `${own}/send_at`;
      case 'metadata':
        return `${isOwn(personal.custom_args, at) ? own : ''}/custom_args${inner}`;
      case 'headers':
        if (isOwn(personal.headers, at)) return `${own}/headers${inner}`;
        if (at !== 'Reply-To' || isOwn(mail.headers, at)) return `/headers${inner}`;
        return mail.reply_to_list == null ? '/reply_to/email' : '/reply_to_list';
      case 'attachments': {
        if (Number(at) >= (mail.attachments ?? []).length) return '/content';
        const name = property === undefined ? '' : `/${ATTACHMENT_NAMES[property]}`;
        return `/attachments${inner}${name}`;
      }
      default:
        return `${NAMES[field] ?? `/${field}`}${inner}`;
    }
  };
}
