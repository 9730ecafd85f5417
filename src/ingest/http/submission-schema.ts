import { z } from 'zod';
import { PRIORITIES } from '../../domain/message.ts';
import { SUPPRESSION_VALUES } from '../message-rules.ts';

/**
 * JSON bodies with submissions: their fields, types and descriptions in the API. Only names and types are enforced
 * here. The rules for values hold for every media type and are in `submission.ts`; here they appear in words and in
 * keywords that only readers of the description use.
 */

const addressList = (meaning: string) =>
  z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .meta({
      description: `${meaning} An array with one mailbox each, or one address list.`,
      examples: [
        ['bob@example.org', 'Ann Lee <ann@example.net>'],
        '"Doe, Jane" <jane@example.org>, bob@example.org',
      ],
    });

/** One file that goes with a message. */
// biome-ignore format: a table
export const attachmentSchema = z.strictObject({
  filename: z.string().nullish().meta({ description: 'A file name without a path.', examples: ['invoice.pdf'] }),
  content: z.string().meta({ description: 'The bytes in base64, with padding and without line breaks.', contentEncoding: 'base64', examples: ['SGVsbG8='] }),
  contentType: z.string().nullish().meta({ description: 'Media type; `application/octet-stream` when absent.', examples: ['application/pdf'] }),
  contentId: z.string().nullish().meta({ description: 'Name by which the HTML refers to it, as in `cid:logo`; without angle brackets.', examples: ['logo'] }),
  disposition: z.string().meta({ enum: ['attachment', 'inline'] }).nullish().meta({ description: '`attachment` (default) or `inline`.', examples: ['inline'] }),
}).meta({ description: 'A file that goes with a message.', required: ['filename', 'content'] });

/** What recipients can unsubscribe from. */
// biome-ignore format: a table
export const unsubscribeSchema = z.strictObject({
  stream: z.string().meta({ maxLength: 64, description: 'The stream, and the beginning of the List-ID: `news` becomes `<news.example.com>`.', examples: ['news'] }),
}).meta({ description: 'What recipients can unsubscribe from with one click.' });

/** The body of `POST /api/v1/messages` as JSON. */
// biome-ignore format: a table
export const submissionSchema = z.strictObject({
  from: z.string().meta({ description: 'The sender, exactly one mailbox: `a@example.com` or `Name <a@example.com>`.', examples: ['Waybill Shop <orders@example.com>'] }),
  to: addressList('Recipients. At least one in to, cc and bcc together; at most `api.max_recipients` (default 1000).'),
  cc: addressList('Recipients of a copy.'),
  bcc: addressList('Recipients that the message does not show.'),
  subject: z.string().nullish().meta({ description: 'At most 2,000 characters; may be empty.', examples: ['Your order'] }),
  text: z.string().nullish().meta({ description: 'The body as plain text. At least one of text, html and attachments is required.' }),
  html: z.string().nullish().meta({ description: 'The body as HTML.' }),
  template: z.string().nullish().meta({ description: 'The alias or id of a template whose published version says what the message says; not beside subject, text and html. It is rendered at acceptance.', examples: ['welcome'] }),
  variables: z.record(z.string(), z.unknown()).nullish().meta({ description: 'The values for the names in the template. A name without a value refuses the message.', examples: [{ name: 'Ann', items: [{ title: 'Shirt' }] }] }),
  headers: z.record(z.string(), z.string().nullable()).nullish().meta({ description: 'Header fields by name, as text without line breaks. At most `api.max_headers` (default 50) and `api.max_header_bytes` (default 65536). Fields that Waybill writes itself (From, Subject, Content-*, Received, …) are refused by name.', examples: [{ 'Reply-To': 'help@example.com', 'X-Order': '1001' }] }),
  attachments: z.array(attachmentSchema).nullish().meta({ description: 'At most `api.max_attachments` (default 500). The message as sent and the body as received may each have `api.max_message_bytes` (default 26214400); base64 makes attachments grow by 37 %.' }),
  tags: z.array(z.string().meta({ minLength: 1, maxLength: 128 })).nullish().meta({ description: 'For finding messages, never in the mail: at most `api.max_tags` (default 10), of 1 to 128 printable characters.', examples: [['orders']] }),
  sendAt: z.string().nullish().meta({ description: 'Not before this time (RFC 3339), at most 30 days ahead. A past time means now.', format: 'date-time', examples: ['2026-11-21T08:00:00Z'] }),
  metadata: z.record(z.string(), z.string().nullable()).nullish().meta({ description: 'Your own names and values: at most `api.max_metadata` (default 20), names of 1 to 64 of `A-Z a-z 0-9 _ . -`, values up to 4,096 bytes. They are returned with the status, never sent in the mail.', examples: [{ orderId: '1001' }] }),
  priority: z.string().meta({ enum: [...PRIORITIES] }).nullish().meta({ description: '`high`, `normal` (default) or `bulk`: which waiting mail goes first.', examples: ['normal'] }),
  stream: z.string().nullish().meta({ description: 'What this mail belongs to, such as a newsletter: an entry of the suppression list may stop one stream alone. Up to 255 characters, compared without regard to case; never in the mail. Without it, the List-ID header counts.', examples: ['news'] }),
  suppression: z.string().meta({ enum: [...SUPPRESSION_VALUES] }).nullish().meta({ description: '`ignore`: send to suppressed addresses, too, but for those that complained. Needs the scope `suppressions:write`.', examples: ['ignore'] }),
  unsubscribe: unsubscribeSchema.nullish().meta({ description: 'Lets recipients unsubscribe from a stream with one click (RFC 8058). Each gets a copy of its own, with List-Unsubscribe, List-Unsubscribe-Post and List-ID, and with its link in place of `%unsubscribe_url%` in text and html. `api.max_message_bytes` holds for all copies together. Needs `server.public_url` with https, and a key that signs for the domain of From.', examples: [{ stream: 'news' }] }),
  box: z.string().meta({ pattern: '^[a-z0-9._-]{1,64}$' }).nullish().meta({ description: 'Sets captured mail apart, so that tests which run at the same time can share a test key: the inbox lists and waits by box. 1 to 64 characters of `a-z 0-9 . _ -`; never in the mail. The header `X-Waybill-Box` says the same.', examples: ['worker-1'] }),
  requireTls: z.boolean().nullish().meta({ description: 'REQUIRETLS (RFC 8689): the message goes only to servers that prove who they are, encrypt, and promise the same for the rest of the way; else it fails. The header `TLS-Required: No` asks for the opposite.' }),
  dryRun: z.boolean().nullish().meta({ description: 'Check everything, store and send nothing; the answer is 200 with the verdict.' }),
}).describe('A message to be sent. null and empty lists, texts and objects equal absent ones.');
