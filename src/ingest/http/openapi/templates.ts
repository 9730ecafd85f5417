import type { z } from 'zod';
import type { renderedTemplateSchema, templateSchema } from '../template-answers.ts';
import { type Descriptions, jsonAnswer, jsonBody } from './operation.ts';
import { JSON_PROBLEMS, mergeProblems } from './refusals.ts';

const SUMMARY = {
  id: 'tpl_01k9f5y7f0e2c4a8b6d0e2f4g6',
  alias: 'welcome',
  name: 'Welcome',
  version: 2,
  publishedVersion: 1,
  subject: 'Welcome, {{name}}',
  createdAt: '2026-11-20T11:15:00.000Z',
  updatedAt: '2026-11-20T11:20:00.000Z',
};
const TEMPLATE: z.infer<typeof templateSchema> = {
  ...SUMMARY,
  html: '<p>Hello {{name}},</p>',
  text: null,
  sample: { name: 'Ann' },
  versions: [
    { version: 2, at: '2026-11-20T11:20:00.000Z', by: 'shop', note: 'Another subject' },
    { version: 1, at: '2026-11-20T11:15:00.000Z', by: 'ann', note: '' },
  ],
};
const RENDERED: z.infer<typeof renderedTemplateSchema> = {
  subject: 'Welcome, Ann',
  html: '<p>Hello Ann,</p>',
  text: 'Hello Ann,\n',
  faults: [],
  missing: [],
};

const one = jsonAnswer('Template', 'The template.', {
  template: { summary: 'A template', value: TEMPLATE },
});
const UNKNOWN = { 400: ['invalid_request'], 404: ['template_not_found'] } as const;

/** The endpoints of templates. */
export const TEMPLATES = {
  listTemplates: {
    tag: 'Templates',
    summary: 'List the templates',
    description: 'Without their texts. docs/templates.md has the language.',
    answers: [
      jsonAnswer('Templates', 'All of them.', { one: { summary: 'One', value: { templates: [SUMMARY] } } }),
    ],
    problems: { 400: ['invalid_request'] },
  },
  getTemplate: {
    tag: 'Templates',
    summary: 'See a template with its versions',
    description: 'By its alias or id.',
    answers: [one],
    problems: UNKNOWN,
  },
  saveTemplate: {
    tag: 'Templates',
    summary: 'Save a version of a template',
    description:
      'A template is made by its first version, with `basedOn` null. Otherwise `basedOn` must be the newest version, so that nobody overwrites what another has saved meanwhile. Without a difference there is no new version. It is sent once it is published.',
    body: jsonBody('TemplateToSave', 'The version.', {
      new: {
        summary: 'A new template',
        value: {
          name: TEMPLATE.name,
          subject: TEMPLATE.subject,
          html: TEMPLATE.html,
          text: null,
          sample: TEMPLATE.sample,
          basedOn: null,
        },
      },
    }),
    answers: [
      one,
      jsonAnswer(
        'Template',
        'It is new; or a repeat of what made it.',
        { new: { summary: 'New', value: TEMPLATE } },
        { status: 201 },
      ),
    ],
    problems: mergeProblems(JSON_PROBLEMS, {
      400: ['invalid_request'],
      409: ['template_changed', 'templates_full', 'test_key'],
    }),
  },
  publishTemplate: {
    tag: 'Templates',
    summary: 'Say which version of a template is sent',
    description: 'From now on, and for messages that are accepted from now on.',
    body: jsonBody('TemplateToPublish', 'The version.', {
      second: { summary: 'The second version', value: { version: 2 } },
    }),
    answers: [one],
    problems: mergeProblems(JSON_PROBLEMS, UNKNOWN, { 409: ['test_key'] }),
  },
  renderTemplate: {
    tag: 'Templates',
    summary: 'See what a template says with some values',
    description: 'Nothing is stored or sent.',
    body: jsonBody('TemplateToRender', 'The values.', {
      ann: { summary: 'For Ann', value: { variables: { name: 'Ann' } } },
    }),
    answers: [
      jsonAnswer('RenderedTemplate', 'What it says, and what is wrong.', {
        ann: { summary: 'For Ann', value: RENDERED },
      }),
    ],
    problems: mergeProblems(JSON_PROBLEMS, UNKNOWN),
  },
  removeTemplate: {
    tag: 'Templates',
    summary: 'Delete a template with all its versions',
    description: 'Messages with it are refused from now on.',
    answers: [{ status: 204, description: 'It is deleted.', headers: [], content: {} }],
    problems: mergeProblems(UNKNOWN, { 409: ['test_key'] }),
  },
} satisfies Descriptions;
