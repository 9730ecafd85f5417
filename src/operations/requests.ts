import { z } from 'zod';
import { choice, flag, integer, orOption, text, time } from './command.ts';
import { type OperationsOf, operation, READ, type ResultIn } from './operation.ts';

/** The log of requests: what became of each request to the ingestion API. */

/** Requests that were refused, and others. */
const KINDS = ['refused', 'accepted'] as const;
const MAX_TEXT = 200;
const at = z.string().max(MAX_TEXT).nullable().default(null);
const NONE = { absent: null };

/** What can be asked of the log of requests. */
export const REQUEST_OPERATIONS = {
  requestLog: operation({
    meaning:
      'What became of requests to the ingestion API, newest first: of one key, or of all. Kept for `retention.requests_days`.',
    access: READ,
    request: z.strictObject({
      key: z
        .string()
        .max(MAX_TEXT)
        .nullable()
        .default(null)
        .describe('Only requests of this key, by its name or id.'),
      unknown: z.boolean().default(false).describe('Only requests that named no known key.'),
      only: z
        .enum(KINDS)
        .nullable()
        .default(null)
        .describe(
          '`refused`: only those that were refused, or came to nothing; `accepted`: only the others.',
        ),
      since: at.describe('Answered at this time or later, RFC 3339.'),
      until: at.describe('Answered before this time.'),
      limit: z.int().min(1).max(200).default(50),
      cursor: z
        .string()
        .max(MAX_TEXT)
        .nullable()
        .default(null)
        .describe('The `nextCursor` of the page before.'),
    }),
    result: ({ requestsPageSchema: page }) => page,
    commands: [
      {
        words: 'keys requests',
        summary: 'show what became of requests to the API, newest first',
        examples: [
          'waybill keys requests shop --refused',
          'waybill keys requests --unknown',
          'waybill keys requests shop --since 2026-11-20T00:00:00Z --json',
        ],
        takes: {
          key: text('[key]', 'name or id of a key; without it, all requests', NONE),
          unknown: flag('--unknown', 'only requests that named no known key'),
          only: orOption(
            choice(
              '--only <which>',
              'refused: only those that were refused; accepted: only the others',
              KINDS,
              NONE,
            ),
            '--refused',
            'only requests that were refused',
            'refused',
          ),
          since: time('--since <when>', 'only requests answered at this time or later', NONE),
          until: time('--until <when>', 'only requests answered before this time', NONE),
          limit: integer('--limit <n>', 'how many', [1, 200], { absent: 50 }),
          cursor: text('--cursor <cursor>', 'continue after a page: its nextCursor, from --json', NONE),
        },
      },
    ],
  }),
};

/** Those who carry them out. */
export type RequestOperations = OperationsOf<typeof REQUEST_OPERATIONS>;
/** A page of the log. */
export type RequestsPage = ResultIn<typeof REQUEST_OPERATIONS, 'requestLog'>;
