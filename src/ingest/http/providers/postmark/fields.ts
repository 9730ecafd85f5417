import { z } from 'zod';
import { pointerToken } from '../../../../http/problem.ts';
import type { AddressField, AttachmentField, FieldName, NamedValue, PointTo } from '../../fields.ts';
import { NO_ADDRESSES } from '../../fields.ts';
import { anyCase } from '../../json-object.ts';
import { attachmentOf, fileOf, type GivenMessage } from '../submitting.ts';

/** Postmark's fields, and what they are in ours (contract-2 §C3). Their names ignore case. */

const text = () => z.string().nullish();

const attachment = anyCase({
  Name: text(),
  Content: text(),
  ContentType: text(),
  ContentID: text(),
  Disposition: text(),
  /** The SDK's types have it; the content says it. */
  ContentLength: z.number().nullish(),
});

const letter = {
  From: text(),
  To: text(),
  Cc: text(),
  Bcc: text(),
  ReplyTo: text(),
  Tag: text(),
  Headers: z.array(anyCase({ Name: z.string(), Value: text() })).nullish(),
  /** django-anymail gives numbers, too. */
  Metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  Attachments: z.array(attachment).nullish(),
  MessageStream: text(),
  TrackOpens: z.boolean().nullish(),
  TrackLinks: text(),
};

/** The body of `POST /email`, and each of `POST /email/batch`. */
export const emailSchema = anyCase({ ...letter, Subject: text(), HtmlBody: text(), TextBody: text() });

/** The body of `POST /email/withTemplate`, and each message of `POST /email/batchWithTemplates`. */
export const templatedSchema = anyCase({
  ...letter,
  TemplateAlias: text(),
  TemplateId: z.number().nullish(),
  TemplateModel: z.record(z.string(), z.unknown()).nullish(),
  /** The HTML is sent as it is written. */
  InlineCss: z.boolean().nullish(),
});

/** See {@link emailSchema} and {@link templatedSchema}. */
export type Email = z.infer<typeof emailSchema> & Partial<z.infer<typeof templatedSchema>>;

/** Fields that are taken and mean nothing here. */
export const IGNORED = ['MessageStream', 'TrackOpens', 'TrackLinks', 'InlineCss'] as const;

/** What of {@link IGNORED} an email asks for. */
export function ignoredIn({ MessageStream, TrackOpens, TrackLinks, InlineCss }: Email): object {
  return {
    // Postmark does so unless it is told not to.
    ...(InlineCss === true && { InlineCss }),
    ...(MessageStream && { MessageStream }),
    ...(TrackOpens && { TrackOpens }),
    ...(TrackLinks && TrackLinks !== 'None' && { TrackLinks }),
  };
}

/** A message of Postmark's in our terms. */
export function messageOf(email: Email): GivenMessage {
  return {
    fields: {
      from: email.From || null,
      to: addressesOf(email.To),
      cc: addressesOf(email.Cc),
      bcc: addressesOf(email.Bcc),
      subject: email.Subject ?? '',
      text: email.TextBody || null,
      html: email.HtmlBody || null,
      template: templateOf(email),
      variables: templateOf(email) === null ? null : (email.TemplateModel ?? {}),
      headers: headersOf(email),
      attachments: (email.Attachments ?? []).map(attachmentFrom),
      tags: email.Tag ? [email.Tag] : [],
      metadata: Object.entries(email.Metadata ?? {}).map(([name, value]) => [name, String(value)]),
    },
    pointTo: pointInto(email),
  };
}

/** The alias or, as an alias of ours, the number. */
function templateOf({ TemplateAlias, TemplateId }: Email): string | null {
  return TemplateAlias || (TemplateId == null ? null : String(TemplateId));
}

/** A text is a list of addresses. */
function addressesOf(value: Email['To']): AddressField {
  return value ? { texts: [value], lists: true } : NO_ADDRESSES;
}

function headersOf({ ReplyTo, Headers }: Email): NamedValue[] {
  return [
    ...(ReplyTo ? [['Reply-To', ReplyTo] as const] : []),
    ...(Headers ?? []).flatMap(({ Name, Value }): NamedValue[] =>
      Value && !isOfForm(Name, Value) ? [[Name, Value]] : [],
    ),
  ];
}

/**
 * What Postmark's library for Ruby copies from the message that it takes apart: how that one was written. Any other
 * value says what the mail is, and is refused with the header.
 */
const OF_FORM: ReadonlyMap<string, RegExp> = new Map([
  ['mime-version', /^1\.0$/],
  ['content-type', /^(?:multipart\/[\w-]+|text\/(?:plain|html))[ \t]*(?:;|$)/i],
  ['content-transfer-encoding', /^(?:7bit|8bit|quoted-printable|base64)$/i],
]);

function isOfForm(name: string, value: string): boolean {
  return OF_FORM.get(name.toLowerCase())?.test(value.trim()) === true;
}

function attachmentFrom({ Name, Content, ContentType, ContentID, Disposition }: z.infer<typeof attachment>) {
  const contentId = ContentID?.replace(/^cid:/i, '') || null;
  return attachmentOf({
    filename: Name || null,
    content: fileOf(Content ?? ''),
    contentType: ContentType || null,
    contentId,
    // What the text refers to is shown within it.
    disposition: Disposition || (contentId === null ? null : 'inline'),
  });
}

/** Postmark's names of our fields; it has none for the others. */
const NAMES: Partial<Record<FieldName, string>> = {
  from: 'From',
  to: 'To',
  cc: 'Cc',
  bcc: 'Bcc',
  subject: 'Subject',
  text: 'TextBody',
  html: 'HtmlBody',
  variables: 'TemplateModel',
  headers: 'Headers',
  attachments: 'Attachments',
  tags: 'Tag',
  metadata: 'Metadata',
};
const ATTACHMENT_NAMES: Readonly<Record<keyof AttachmentField, string>> = {
  filename: 'Name',
  content: 'Content',
  contentType: 'ContentType',
  contentId: 'ContentID',
  disposition: 'Disposition',
};

function pointInto({ ReplyTo, Headers, TemplateAlias }: Email): PointTo {
  return (field, place, property) => {
    if (field === 'template') return TemplateAlias ? '/TemplateAlias' : '/TemplateId';
    const name = NAMES[field] ?? field;
    if (place === undefined || field === 'tags') return `/${name}`;
    if (field === 'headers') {
      const index = (Headers ?? []).findIndex(
        (one) => one.Name.toLowerCase() === String(place).toLowerCase(),
      );
      return index < 0 && ReplyTo ? '/ReplyTo' : `/Headers/${index}`;
    }
    const inner = `/${name}/${pointerToken(String(place))}`;
    return property === undefined ? inner : `${inner}/${ATTACHMENT_NAMES[property]}`;
  };
}
