import { z } from 'zod';
import { PRIORITIES } from '../../../domain/message.ts';
import { submissionSchema } from '../submission-schema.ts';

/**
 * Bodies of requests that are not validated by one schema: the messages of a batch are checked each by itself, and
 * a form is read field by field (`form-fields.ts`). Tests hold these to what is taken.
 */

/** The body of a batch. */
export const batchSchema = z
  .strictObject({
    messages: z
      .array(submissionSchema)
      .min(1)
      .describe('At most `api.max_batch_messages` (default 500); each is accepted or refused by itself.'),
  })
  .describe('Several messages, accepted in one commit.');

const SAME = 'See `Submission`.';
const addresses = z
  .array(z.string())
  .exactOptional()
  .describe('An address list; the field may be repeated. At least one recipient over to, cc and bcc.');
const text = (meaning: string) => z.string().exactOptional().describe(meaning);
const yesNo = z.enum(['yes', 'no', 'true', 'false']).exactOptional();
const onlyNo = z
  .enum(['no', 'false'])
  .exactOptional()
  .describe('Taken where it asks for what happens anyway.');
const files = (meaning: string) =>
  z
    .array(z.string().meta({ format: 'binary' }))
    .exactOptional()
    .describe(meaning);

const FIELDS = {
  from: z.string().describe('The sender, exactly one mailbox.'),
  to: addresses,
  cc: addresses,
  bcc: addresses,
  subject: text(SAME),
  text: text(SAME),
  html: text(SAME),
  attachment: files('File parts, each with a filename; repeatable.'),
  inline: files('File parts that the HTML refers to, by `cid:` and the file name or Content-ID.'),
  'o:tag': z.array(z.string()).exactOptional().describe('A tag; repeatable. See `tags` of `Submission`.'),
  'o:send-at': text('See `sendAt` of `Submission`.'),
  'o:priority': z.enum(PRIORITIES).exactOptional(),
  'o:dry-run': yesNo.describe('See `dryRun` of `Submission`.'),
  'o:deliverytime': text('`o:send-at` in Mailgun’s words: RFC 2822 or RFC 3339.'),
  'o:testmode': yesNo.describe('`yes`: the mail is only captured locally, as with a test key.'),
  'o:tracking': onlyNo,
  'o:tracking-clicks': onlyNo,
  'o:tracking-opens': onlyNo,
  'o:dkim': yesNo.describe(
    'Taken where it asks for what happens anyway: `yes` where the sender’s domain signs, else `no`.',
  ),
  'o:require-tls': onlyNo,
};

/** Header fields and metadata are fields whose names begin so. */
const NAMED_FIELDS = {
  '^h:': { type: 'string', description: '`h:<Name>`: a header field. See `headers` of `Submission`.' },
  '^v:': { type: 'string', description: '`v:<name>`: a value of your own. See `metadata` of `Submission`.' },
};

/** A submission as a form. */
export const submissionFormSchema = z.strictObject(FIELDS).meta({
  description: 'A message to be sent, as a form. Empty fields equal absent ones.',
  patternProperties: NAMED_FIELDS,
});

/** The same, urlencoded: without files. */
export const mailgunFormSchema = z.strictObject(FIELDS).omit({ attachment: true, inline: true }).meta({
  description: 'A message to be sent, as a form without files. Empty fields equal absent ones.',
  patternProperties: NAMED_FIELDS,
});
