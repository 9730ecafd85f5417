import { z } from 'zod';

/** The shapes of templates as the API shows them, as `webhook-answers.ts` has those of webhooks. */

const time = z.string().meta({ format: 'date-time' });
const version = z.int().min(1);
const values = z.record(z.string(), z.unknown());

/** A template without its texts. */
// biome-ignore format: a table
export const templateSummarySchema = z.object({
  id: z.string().meta({ pattern: '^tpl_[0-9a-hjkmnp-tv-z]{26}$' }).describe('`tpl_` and 26 characters.'),
  alias: z.string().describe('What it is called by in requests; unique.'),
  name: z.string().describe('For people.'),
  version: version.describe('The newest version.'),
  publishedVersion: version.nullable().describe('The version that is sent; null: none is.'),
  subject: z.string().describe('The template of the subject, in the newest version.'),
  createdAt: time,
  updatedAt: time,
}).describe('A template without its texts. All members are always present.');

/** All templates. */
export const templatesSchema = z
  .object({ templates: z.array(templateSummarySchema) })
  .describe('Templates, by alias.');

/** What is known of a version. */
// biome-ignore format: a table
export const templateVersionSchema = z.object({
  version,
  at: time.describe('When it was saved.'),
  by: z.string().describe('Who saved it: the name of a user or a key; empty: the command line.'),
  note: z.string().describe('What they wrote about it.'),
}).describe('A version of a template. All members are always present.');

/** A template with one of its versions. */
// biome-ignore format: a table
export const templateSchema = templateSummarySchema.extend({
  version: version.describe('The version whose texts these are.'),
  subject: z.string().describe('The template of the subject.'),
  html: z.string().nullable().describe('The template of the HTML; null: there is none.'),
  text: z.string().nullable().describe('The template of the text; null: with HTML, the text is made from that.'),
  sample: values.describe('Values that it is shown with to those who edit it.'),
  versions: z.array(templateVersionSchema).describe('What is kept of its history, newest first.'),
}).describe('A template with the texts of one of its versions. All members are always present.');

/** What is wrong with a template, or with a value in it. */
// biome-ignore format: a table
export const templateFaultSchema = z.object({
  field: z.enum(['subject', 'html', 'text']),
  line: z.int().min(1).describe('In the template.'),
  code: z.string().describe('Stable, for programs.'),
  detail: z.string().describe('What is wrong, and what to write instead.'),
}).describe('A fault in a template, or of a value in it. All members are always present.');

/** A template with values in it. */
// biome-ignore format: a table
export const renderedTemplateSchema = z.object({
  subject: z.string().nullable().describe('Null: it cannot be made; see `faults`.'),
  html: z.string().nullable().describe('Null: there is none, or it cannot be made.'),
  text: z.string().nullable().describe('Null: there is none, or it cannot be made. Where the template has HTML alone, it is made from that.'),
  faults: z.array(templateFaultSchema).describe('At most 20.'),
  missing: z.array(z.string()).describe('Names without a value, each once, such as `customer.name`. They are left in the texts as they stand in the template; a message with one is refused.'),
}).describe('What a template says with these values. All members are always present.');
