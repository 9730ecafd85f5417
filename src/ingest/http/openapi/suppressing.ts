import type { z } from 'zod';
import type {
  suppressionCheckSchema,
  suppressionImportSchema,
  suppressionSchema,
  suppressionsPageSchema,
} from '../suppression-answers.ts';
import { type Descriptions, jsonAnswer, jsonBody } from './operation.ts';
import { JSON_PROBLEMS, mergeProblems } from './refusals.ts';

const BOUNCED: z.infer<typeof suppressionSchema> = {
  id: 'sup_01kaj3v7q8x5m2c9t4r6w0ybzn',
  address: 'bob@example.org',
  scope: 'global',
  stream: null,
  reason: 'hard_bounce',
  source: 'dsn',
  evidence: {
    messageId: 'msg_01k9f5y7f0e2c4a8b6d0e2f4g6',
    at: '2026-11-20T11:15:00.910Z',
    code: 550,
    enhancedCode: '5.1.1',
    text: 'No such user',
  },
  note: '',
  createdAt: '2026-11-20T11:15:01.000Z',
  updatedAt: '2026-11-20T11:15:01.000Z',
  expiresAt: null,
};

const WANTED: z.infer<typeof suppressionSchema> = {
  ...BOUNCED,
  id: 'sup_01kaj3v7q8x5m2c9t4r6w0ybzp',
  address: 'ann@example.org',
  scope: 'key:shop',
  stream: 'news',
  reason: 'unsubscribe',
  source: 'api',
  evidence: null,
  note: 'by phone',
};

const PAGE: z.infer<typeof suppressionsPageSchema> = { suppressions: [WANTED, BOUNCED], hasMore: false };
const IMPORTED: z.infer<typeof suppressionImportSchema> = {
  added: 1,
  updated: 0,
  invalid: [
    {
      line: 3,
      detail:
        'bob(at)example.org is not an address of the form local@domain, such as "Jane Doe <jane@example.com>".',
    },
  ],
  moreInvalid: 0,
};
const CHECKED: z.infer<typeof suppressionCheckSchema> = {
  results: [
    { address: 'bob@example.org', suppressed: true, suppression: BOUNCED },
    { address: 'eve@example.org', suppressed: false, suppression: null },
  ],
};

const RIGHTS =
  'Without `messages:read_all` a key sees and changes the entries of its own scope; it reads those of its sender domains and global ones, too, but only address by address.';
const ROWS = 'address,stream\nann@example.org,news\nbob(at)example.org,\n';

/** The endpoints of the suppression list. */
export const SUPPRESSING = {
  listSuppressions: {
    tag: 'Suppressions',
    summary: 'List the addresses that get no mail',
    description: `Newest first, page by page. ${RIGHTS} A page looks at no more than 2,000 entries: with a sparse filter it may be short although there is a next one.`,
    answers: [
      jsonAnswer(
        'SuppressionsPage',
        'A page of entries.',
        { page: { summary: 'The only page', value: PAGE } },
        { headers: ['Link'] },
      ),
    ],
    problems: { 400: ['invalid_request'] },
  },
  exportSuppressions: {
    tag: 'Suppressions',
    summary: 'Get the list as a table',
    description:
      'Every entry that the list shows to the key, as CSV with a header line; it can be imported again. Texts that a spreadsheet would run as a formula have an apostrophe in front.',
    answers: [
      {
        status: 200,
        description: 'The table.',
        headers: ['Content-Disposition'],
        content: {
          'text/csv': {
            schema: { type: 'string' },
            examples: { one: { summary: 'The header, and an entry', value: ROWS } },
          },
        },
      },
    ],
  },
  getSuppression: {
    tag: 'Suppressions',
    summary: 'See why an address gets no mail',
    description: `By its id, or by address: of several entries the one with the widest scope. ${RIGHTS}`,
    answers: [
      jsonAnswer('Suppression', 'The entry.', { bounced: { summary: 'It bounced', value: BOUNCED } }),
    ],
    problems: { 400: ['invalid_request'], 404: ['suppression_not_found'] },
  },
  addSuppression: {
    tag: 'Suppressions',
    summary: 'Send nothing to an address any more',
    description:
      'Or to a whole domain. There is one entry for each address, scope and stream: adding it again renews it, and keeps the stronger reason.',
    body: jsonBody('NewSuppression', 'The entry.', {
      stream: {
        summary: 'One stream',
        value: { address: 'ann@example.org', stream: 'news', reason: 'unsubscribe' },
      },
    }),
    answers: [
      jsonAnswer(
        'Suppression',
        'It is new.',
        { added: { summary: 'Added', value: WANTED } },
        { status: 201 },
      ),
      jsonAnswer('Suppression', 'It was there, and is renewed.', {
        renewed: { summary: 'Renewed', value: WANTED },
      }),
    ],
    problems: mergeProblems(JSON_PROBLEMS, { 400: ['invalid_request'], 503: ['suppressions_full'] }),
  },
  importSuppressions: {
    tag: 'Suppressions',
    summary: 'Import a list',
    description:
      'A table of up to 100,000 rows or 10 MiB: CSV with a header line, or a JSON list of objects. The columns are the fields of an entry, or those that the exports of providers have; docs/suppressions.md names them. Rows that are wrong are told, the others are imported. A repeat is harmless.',
    body: {
      required: true,
      description: 'The table.',
      content: {
        'text/csv': {
          schema: { type: 'string' },
          examples: { rows: { summary: 'Two rows', value: ROWS } },
        },
        'application/json': {
          schema: {},
          examples: { list: { summary: 'One row', value: [{ email: 'ann@example.org', reason: 'Bounce' }] } },
        },
      },
    },
    answers: [
      jsonAnswer('SuppressionImport', 'What was done.', { done: { summary: 'One row', value: IMPORTED } }),
    ],
    problems: {
      400: ['invalid_request', 'invalid_import', 'invalid_utf8'],
      413: ['too_many_rows'],
      415: ['unsupported_media_type'],
      503: ['suppressions_full'],
    },
  },
  checkSuppressions: {
    tag: 'Suppressions',
    summary: 'Ask before sending',
    description:
      'Which of up to 1,000 addresses would get no mail from the calling key, and because of which entry.',
    body: jsonBody('SuppressionQuestion', 'The addresses.', {
      two: {
        summary: 'Two of them',
        value: { addresses: ['bob@example.org', 'eve@example.org'], from: 'news@example.com' },
      },
    }),
    answers: [
      jsonAnswer('SuppressionCheck', 'In the order of the request.', {
        two: { summary: 'One is suppressed', value: CHECKED },
      }),
    ],
    problems: mergeProblems(JSON_PROBLEMS, { 400: ['invalid_request'] }),
  },
  removeSuppressions: {
    tag: 'Suppressions',
    summary: 'Send to an address again',
    description:
      'Removes an entry by its id, or every entry of exactly this address that the key may change. Where one of them is because of a complaint, nothing is removed unless that is confirmed.',
    answers: [{ status: 204, description: 'It is removed.', headers: [], content: {} }],
    problems: { 400: ['invalid_request'], 404: ['suppression_not_found'], 409: ['complaint'] },
  },
} satisfies Descriptions;
