import { z } from 'zod';
import type { TemplateValues } from '../../../../domain/template.ts';
import { pointerToken } from '../../../../http/problem.ts';
import {
  type AddressField,
  type AttachmentField,
  type FieldName,
  type NamedValue,
  NO_ADDRESSES,
  type PointTo,
} from '../../fields.ts';
import { attachmentOf, fileOf, type GivenMessage } from '../submitting.ts';

/** SES's fields, and what they are in ours (contract-2 §C6). */

const text = () => z.string().nullish();
const addresses = () => z.array(z.string()).nullish();

const destinationSchema = z.strictObject({
  ToAddresses: addresses(),
  CcAddresses: addresses(),
  BccAddresses: addresses(),
});
const tagsSchema = z.array(z.strictObject({ Name: z.string(), Value: z.string() })).nullish();
const headersSchema = z.array(z.strictObject({ Name: z.string(), Value: z.string() })).nullish();
/** All that we send is UTF-8, whatever the charset that is asked for. */
const contentSchema = z.strictObject({ Data: z.string(), Charset: text() });

const attachmentSchema = z.strictObject({
  FileName: text(),
  RawContent: z.string(),
  ContentType: text(),
  ContentDisposition: z.enum(['ATTACHMENT', 'INLINE']).nullish(),
  ContentId: text(),
  ContentDescription: text(),
  ContentTransferEncoding: text(),
});

const partsSchema = { Headers: headersSchema, Attachments: z.array(attachmentSchema).nullish() };

const simpleSchema = z.strictObject({
  Subject: contentSchema.nullish(),
  Body: z.strictObject({ Text: contentSchema.nullish(), Html: contentSchema.nullish() }).nullish(),
  ...partsSchema,
});

const templateSchema = z.strictObject({
  TemplateContent: z.strictObject({ Subject: text(), Text: text(), Html: text() }).nullish(),
  TemplateData: text(),
  TemplateName: text(),
  TemplateArn: text(),
  ...partsSchema,
});

const envelopeSchema = {
  FromEmailAddress: text(),
  ReplyToAddresses: addresses(),
  FeedbackForwardingEmailAddress: text(),
  FromEmailAddressIdentityArn: text(),
  FeedbackForwardingEmailAddressIdentityArn: text(),
  ConfigurationSetName: text(),
  EndpointId: text(),
  TenantName: text(),
};

/** Fields that are taken and mean nothing here. */
export const IGNORED = [
  'ConfigurationSetName',
  'EndpointId',
  'TenantName',
  'FromEmailAddressIdentityArn',
  'FeedbackForwardingEmailAddressIdentityArn',
] as const;

/** The same of attachments. */
export const IGNORED_OF_ATTACHMENTS = ['ContentDescription', 'ContentTransferEncoding'] as const;

/** The body of `POST /v2/email/outbound-emails`. */
export const emailSchema = z.strictObject({
  ...envelopeSchema,
  Destination: destinationSchema.nullish(),
  EmailTags: tagsSchema,
  ListManagementOptions: z.strictObject({ ContactListName: text(), TopicName: text() }).nullish(),
  Content: z.strictObject({
    Simple: simpleSchema.nullish(),
    Raw: z.strictObject({ Data: z.string() }).nullish(),
    Template: templateSchema.nullish(),
  }),
});

/** See {@link emailSchema}. */
export type Email = z.infer<typeof emailSchema>;

/** The most entries of one request; SES itself takes 50. */
const MAX_ENTRIES = 500;

const entrySchema = z.strictObject({
  Destination: destinationSchema.nullish(),
  ReplacementTags: tagsSchema,
  ReplacementHeaders: headersSchema,
  ReplacementEmailContent: z
    .strictObject({ ReplacementTemplate: z.strictObject({ ReplacementTemplateData: text() }).nullish() })
    .nullish(),
});

/** The body of `POST /v2/email/outbound-bulk-emails`. */
export const bulkSchema = z.strictObject({
  ...envelopeSchema,
  DefaultEmailTags: tagsSchema,
  DefaultContent: z.strictObject({ Template: templateSchema }),
  BulkEmailEntries: z.array(entrySchema).min(1).max(MAX_ENTRIES),
});

/** See {@link bulkSchema}. */
export type Bulk = z.infer<typeof bulkSchema>;
/** One message of a {@link Bulk}. */
export type BulkEntry = z.infer<typeof entrySchema>;
/** An inline template, or the name of one. */
export type Template = z.infer<typeof templateSchema>;

/** A message without its content: who sends it to whom, and its tags. */
export interface Letter {
  readonly from: string | null | undefined;
  readonly replyTo: readonly string[] | null | undefined;
  readonly destination: Email['Destination'];
  readonly tags: Email['EmailTags'];
}

/** The content of a message, wherever it stands. */
export interface Words {
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  /** A stored template that says what the message says, and its values. */
  readonly stored?: { readonly name: string; readonly values: TemplateValues };
  readonly headers: Template['Headers'];
  readonly attachments: Template['Attachments'];
}

/** Where a message has what. */
export interface Places {
  /** The destination's, and that of tags. */
  readonly destination: string;
  readonly tags: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The name of a template, and its values. */
  readonly template: string;
  readonly values: string;
  /** What headers and attachments are in. */
  readonly parts: string;
}

/** Of an email with simple content. */
export const SIMPLE: Places = {
  destination: '/Destination',
  tags: '/EmailTags',
  subject: '/Content/Simple/Subject/Data',
  text: '/Content/Simple/Body/Text/Data',
  html: '/Content/Simple/Body/Html/Data',
  template: '/Content/Template',
  values: '/Content/Template/TemplateData',
  parts: '/Content/Simple',
};

/** Of a template in this place. */
export function placesOfTemplate(template: string, destination: string, tags: string): Places {
  const content = `${template}/TemplateContent`;
  return {
    destination,
    tags,
    subject: `${content}/Subject`,
    text: `${content}/Text`,
    html: `${content}/Html`,
    template: `${template}/TemplateName`,
    values: `${template}/TemplateData`,
    parts: template,
  };
}

/** A message of SES's in our terms. */
export function messageOf(letter: Letter, words: Words, places: Places): GivenMessage {
  const { destination } = letter;
  const replyTo = letter.replyTo ?? [];
  const headers = words.headers ?? [];
  return {
    fields: {
      from: letter.from || null,
      to: addressesOf(destination?.ToAddresses),
      cc: addressesOf(destination?.CcAddresses),
      bcc: addressesOf(destination?.BccAddresses),
      subject: words.subject,
      text: words.text,
      html: words.html,
      template: words.stored?.name ?? null,
      variables: words.stored?.values ?? null,
      headers: [
        ...(replyTo.length > 0 ? [['Reply-To', replyTo.join(', ')] as const] : []),
        ...headers.map(({ Name, Value }): NamedValue => [Name, Value]),
      ],
      attachments: (words.attachments ?? []).map(attachmentFrom),
      tags: tagsOf(letter.tags),
    },
    pointTo: pointToOf(places),
  };
}

/** The content of a simple message. */
export function wordsOfSimple({ Subject, Body, Headers, Attachments }: z.infer<typeof simpleSchema>): Words {
  return {
    subject: Subject?.Data ?? '',
    text: Body?.Text?.Data || null,
    html: Body?.Html?.Data || null,
    headers: Headers,
    attachments: Attachments,
  };
}

/** A tag is `Name:Value` here. */
export function tagsOf(tags: Email['EmailTags']): string[] {
  return (tags ?? []).map(({ Name, Value }) => `${Name}:${Value}`);
}

/** Each text is one address. */
function addressesOf(texts: readonly string[] | null | undefined): AddressField {
  return texts && texts.length > 0 ? { texts, lists: false } : NO_ADDRESSES;
}

function attachmentFrom(given: z.infer<typeof attachmentSchema>): AttachmentField {
  const { FileName, RawContent, ContentType, ContentId, ContentDisposition } = given;
  return attachmentOf({
    filename: FileName || null,
    content: fileOf(RawContent),
    contentType: ContentType || null,
    contentId: ContentId || null,
    disposition: ContentDisposition?.toLowerCase() ?? null,
  });
}

const ADDRESS_FIELDS: Partial<Record<FieldName, string>> = {
  to: 'ToAddresses',
  cc: 'CcAddresses',
  bcc: 'BccAddresses',
};
// biome-ignore format: a table
const ATTACHMENT_FIELDS: Readonly<Record<keyof AttachmentField, string>> = {
  filename: 'FileName',
  content: 'RawContent',
  contentType: 'ContentType',
  contentId: 'ContentId',
  disposition: 'ContentDisposition',
};

/** Fields that SES has elsewhere or under another name. */
function pointToOf(places: Places): PointTo {
  return (field, place, property) => {
    const list = ADDRESS_FIELDS[field];
    const inner = place === undefined ? '' : `/${pointerToken(String(place))}`;
    if (list !== undefined) return `${places.destination}/${list}${inner}`;
    switch (field) {
      case 'from':
        return '/FromEmailAddress';
      case 'subject':
      case 'text':
      case 'html':
      case 'template':
        return places[field];
      case 'variables':
        return places.values;
      case 'tags':
        return `${places.tags}${inner}`;
      case 'unsubscribe':
        return '/ListManagementOptions';
      case 'headers':
        return place === 'Reply-To' ? '/ReplyToAddresses' : `${places.parts}/Headers${inner}`;
      case 'attachments':
        return `${places.parts}/Attachments${inner}${property === undefined ? '' : `/${ATTACHMENT_FIELDS[property]}`}`;
      default:
        return `/${field}`;
    }
  };
}
