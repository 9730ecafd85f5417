import { z } from 'zod';
import {
  ALIAS,
  ALIAS_RULE,
  MAX_TEMPLATE_SUBJECT,
  MAX_TEMPLATE_TEXT,
  type TemplateTexts,
} from '../domain/template.ts';
import type {
  renderedTemplateSchema,
  templateSchema,
  templateSummarySchema,
} from '../ingest/http/template-answers.ts';
import { integer, type TableForm, text } from './command.ts';
import { type Answers, acts, look, type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** Templates of messages: saved in versions, one of which is published (docs/templates.md). */

/** A template without its texts. */
export type TemplateSummaryView = Shown<typeof templateSummarySchema>;
/** A template with the texts of one of its versions. */
export type TemplateView = Shown<typeof templateSchema>;
/** What a template says with some values. */
export type RenderedTemplateView = Shown<typeof renderedTemplateSchema>;

const which = z.string().min(1).max(100).describe('Its alias, or its id, `tpl_…`.');
const version = z.int().min(1);
const values = z.record(z.string(), z.unknown());

const TEXTS = {
  subject: z.string().max(MAX_TEMPLATE_SUBJECT),
  html: z.string().max(MAX_TEMPLATE_TEXT).nullable(),
  text: z.string().max(MAX_TEMPLATE_TEXT).nullable().describe('Null: with HTML, it is made of that.'),
} satisfies { readonly [Name in keyof TemplateTexts]: z.ZodType };

/** What a version of a template is saved from. */
export const SAVED_TEMPLATE = {
  name: z.string().min(1).max(200).describe('For people.'),
  ...TEXTS,
  sample: values.default({}).describe('Values that it is shown with to those who edit it.'),
  note: z.string().max(500).default('').describe('What this version changes.'),
  basedOn: version
    .nullable()
    .describe('The version that was edited; null: the template is new. Refused unless it is the newest.'),
};

/** Which version becomes the one that is sent. */
export const PUBLISHED_TEMPLATE = {
  version: version.nullable().describe('Null: none; messages with this template are refused.'),
};

/** A template by its alias: what can be changed of it. */
const TEMPLATE = look<TemplateView>(
  'template',
  ({ alias }) => ({ alias }),
  ({ versions: _, ...rest }) => rest,
);

const WHICH = text('<alias>', 'the alias of a template, from: waybill templates list');

const TEMPLATE_TABLE: TableForm<TemplateSummaryView> = {
  columns: {
    ALIAS: ({ alias }) => alias,
    NAME: ({ name }) => name,
    VERSION: ({ version: newest }) => String(newest),
    PUBLISHED: ({ publishedVersion }) => String(publishedVersion ?? '-'),
    CHANGED: ({ updatedAt }) => updatedAt,
  },
  empty: 'There is no template. Save one: waybill templates push --help',
  fits: true,
};

/** What can be asked of templates, and done to them. */
export const TEMPLATE_OPERATIONS = {
  templates: operation({
    meaning: 'All templates by alias, without their texts.',
    access: READ,
    request: z.strictObject({}),
    result: ({ templateSummarySchema: summary }: Answers) => z.array(summary),
    commands: [
      {
        words: 'templates list',
        summary: 'show all templates, and which version of each is sent',
        examples: ['waybill templates list', 'waybill templates list --json'],
        takes: {},
        prints: TEMPLATE_TABLE,
        json: (templates) => ({ templates }),
      },
    ],
  }),
  template: operation({
    meaning: 'A template with its versions, and the texts of one of them.',
    access: READ,
    request: z.strictObject({
      alias: which,
      version: version.nullable().default(null).describe('Whose texts; null: of the newest.'),
    }),
    result: ({ templateSchema: template }) => template,
    commands: [
      {
        words: 'templates show',
        summary: 'show a template with its texts and its versions',
        examples: ['waybill templates show welcome', 'waybill templates show welcome --version 3'],
        takes: {
          alias: WHICH,
          version: integer('--version <n>', 'an earlier version (default: the newest)', [1, 1e9], {
            absent: null,
          }),
        },
      },
    ],
  }),
  saveTemplate: operation({
    meaning:
      'Saves a version of a template. It is sent once it is published. Without a difference to the newest version there is no new one.',
    access: acts({
      words: 'Saved a template',
      subject: 'alias',
      look: TEMPLATE,
      touches: ['templates'],
    }),
    request: z.strictObject({ alias: z.string().regex(ALIAS, ALIAS_RULE), ...SAVED_TEMPLATE }),
    takesMessage: true,
    result: ({ templateSchema: template }) => template,
  }),
  publishTemplate: operation({
    meaning: 'Says which version of a template is sent from now on.',
    access: acts({
      words: 'Published a template',
      subject: 'alias',
      look: TEMPLATE,
      touches: ['templates'],
    }),
    request: z.strictObject({ alias: which, ...PUBLISHED_TEMPLATE }),
    result: ({ templateSchema: template }) => template,
  }),
  deleteTemplate: operation({
    meaning: 'Deletes a template with all its versions.',
    access: acts({
      words: 'Deleted a template',
      subject: 'alias',
      look: TEMPLATE,
      touches: ['templates'],
    }),
    request: z.strictObject({ alias: which }),
    result: () => z.strictObject({ deleted: z.string() }),
    commands: [
      {
        words: 'templates delete',
        summary: 'delete a template with all its versions; messages with it are refused',
        examples: ['waybill templates delete welcome'],
        takes: { alias: WHICH },
        prints: ({ deleted }) => `Deleted: ${deleted}.`,
      },
    ],
  }),
  previewTemplate: operation({
    meaning: 'What a template would say with some values, and what is wrong with it. Stores nothing.',
    access: READ,
    request: z.strictObject({ ...TEXTS, variables: values }),
    takesMessage: true,
    result: ({ renderedTemplateSchema: rendered }) => rendered,
  }),
};

/** Those who carry them out. */
export type TemplateOperations = OperationsOf<typeof TEMPLATE_OPERATIONS>;
