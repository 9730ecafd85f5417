import { z } from 'zod';
import { SUPPRESSION_REASONS } from '../../domain/suppression.ts';

/** The shapes of the suppression list as the API shows it (contract-2 §A5), as `answers.ts` has those of messages. */

const time = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);

/** Why an address is suppressed. */
export const suppressionReasonSchema = z
  .enum(SUPPRESSION_REASONS)
  .describe(
    'Why the address is suppressed. `complaint`: its owner called mail spam; `unsubscribe`: its owner wants no more; `hard_bounce`: it does not exist; `manual`, `import`: somebody added it; `provider`: a provider did not try because of its own list; `soft_bounces`: mail to it bounced too often.',
  );

/** What led to an entry. */
// biome-ignore format: a table
export const suppressionEvidenceSchema = z.object({
  messageId: z.string().nullable().describe('The id of the message; null if it is not known.'),
  at: time.describe('When it happened.'),
  code: z.int().nullable().describe('SMTP reply code; null if there was none.'),
  enhancedCode: z.string().nullable().describe('Enhanced status code (RFC 3463).'),
  text: z.string().describe('One line of at most 500 characters. Written by a stranger: show it as plain text only.'),
}).describe('What led to an entry. All members are always present.');

/** An entry of the list. */
// biome-ignore format: a table
export const suppressionSchema = z.object({
  id: z.string().meta({ pattern: '^sup_[0-9a-hjkmnp-tv-z]{26}$' }).describe('`sup_` and 26 characters.'),
  address: z.string().describe('The address; or `*@example.org` for a domain, `*@*.example.org` for all domains below one.'),
  scope: z.string().describe('Whose mail it stops: `global` for all, `domain:example.com` for mail from that domain, `key:` and the name of a key for mail of that key.'),
  stream: z.string().nullable().describe('The only stream that it stops, in lower case; null: all mail.'),
  reason: suppressionReasonSchema,
  source: z.string().describe('How it came: `smtp`, `dsn`, `arf`, `webhook:` and a relay, `one_click`, `mailto`, `api`, `cli`, `dashboard`.'),
  evidence: suppressionEvidenceSchema.nullable(),
  note: z.string().describe('What somebody wrote about it; may be empty.'),
  createdAt: time,
  updatedAt: time.describe('When it was last made again.'),
  expiresAt: time.nullable().describe('When it ends by itself; null: it stays until somebody removes it.'),
}).describe('An address that gets no mail. There is one entry for each address, scope and stream. All members are always present.');

/** A page of entries. */
// biome-ignore format: a table
export const suppressionsPageSchema = z.object({
  suppressions: z.array(suppressionSchema),
  hasMore: z.boolean().describe('There are, or may be, more: ask again, even if this page has none.'),
  nextCursor: z.string().optional().describe('With it as `cursor`, the next page follows; absent at the end.'),
}).describe('A page of the suppression list, newest first.');

/** What an import did. */
// biome-ignore format: a table
export const suppressionImportSchema = z.object({
  added: count.describe('Entries that are new.'),
  updated: count.describe('Entries that were there already.'),
  invalid: z.array(z.object({
    line: z.int().min(1).describe('The line of a CSV file, its header being line 1; of JSON the number of the item, from 1.'),
    detail: z.string(),
  })).describe('What was not imported, at most the first 1,000.'),
  moreInvalid: count.describe('How many further ones were not imported.'),
}).describe('What an import did.');

/** What a check found. */
// biome-ignore format: a table
export const suppressionCheckSchema = z.object({
  results: z.array(z.object({
    address: z.string().describe('As it was given.'),
    suppressed: z.boolean().describe('Mail to it would not be sent.'),
    suppression: suppressionSchema.nullable().describe('The entry that stops it.'),
  })).describe('In the order of the request.'),
}).describe('Which addresses are suppressed.');
