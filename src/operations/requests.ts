import { z } from 'zod';
import { choice, flag, integer, orOption, text, time } from './command.ts';
import { type Answers, type OperationsOf, operation, READ, type ResultIn } from './operation.ts';
import { ALLOW_LISTS } from './settings.ts';

/** The log of requests: what became of each request to the ingestion API, and of each SMTP session. */

/** Requests that were refused, and others. */
const OUTCOMES = ['refused', 'accepted'] as const;
const KINDS = ['api', 'smtp'] as const;
const ENDS = ['quit', 'lost', 'time_out', 'closed'] as const;
const MAX_TEXT = 200;
const at = z.string().max(MAX_TEXT).nullable().default(null);
const NONE = { absent: null };

const explained = { meaning: z.string().nullable(), cure: z.string().nullable() };

/** What only a session has. */
const session = () =>
  z.strictObject({
    /** The name that it gave in EHLO or HELO, shortened; null: none. */
    hello: z.string().nullable(),
    /** Such as `TLSv1.3`; null: in clear. */
    tls: z.string().nullable(),
    /** Messages that the client wanted to send, by its MAIL commands, and those that were accepted. */
    offered: z.number(),
    accepted: z.number(),
    /** Ids of the first messages that were accepted. */
    messages: z.array(z.string()),
    /** All refused commands. */
    refused: z.number(),
    /** The first ways in which commands were refused. */
    refusals: z.array(
      z.strictObject({
        /** The command; null: before any, or none that is known. */
        verb: z.string().nullable(),
        reply: z.number(),
        enhanced: z.string(),
        /** Without addresses. */
        text: z.string(),
        code: z.string(),
        ...explained,
        times: z.number(),
      }),
    ),
    /** `closed`: by this server. */
    end: z.enum(ENDS),
  });

const page = ({ loggedRequestSchema, requestsPageSchema }: Answers) =>
  requestsPageSchema.extend({
    requests: z.array(
      loggedRequestSchema.extend({
        kind: z.enum(KINDS),
        /** Where it came from; null: not known. */
        sourceAddress: z.string().nullable(),
        /** The list that would allow the source; null if its address is not the reason. */
        setting: z.enum(ALLOW_LISTS).nullable(),
        /** Null: a request to the API. */
        session: session().nullable(),
      }),
    ),
  });

/** What can be asked of the log of requests. */
export const REQUEST_OPERATIONS = {
  requestLog: operation({
    meaning:
      'What became of requests to the ingestion API and of SMTP sessions, newest first: of one key, or of all. Kept for `retention.requests_days`.',
    access: READ,
    request: z.strictObject({
      key: z
        .string()
        .max(MAX_TEXT)
        .nullable()
        .default(null)
        .describe('Only requests of this key, by its name or id, or of a named source: `source:NAME`.'),
      unknown: z.boolean().default(false).describe('Only requests that named no known key.'),
      kind: z
        .enum(KINDS)
        .nullable()
        .default(null)
        .describe('`api`: only requests to the API; `smtp`: only SMTP sessions.'),
      source: z.string().max(MAX_TEXT).nullable().default(null).describe('Only what came from this address.'),
      message: z
        .string()
        .max(MAX_TEXT)
        .nullable()
        .default(null)
        .describe('Only the SMTP session that accepted the message of this id: one of its first 20.'),
      only: z
        .enum(OUTCOMES)
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
    result: page,
    commands: [
      {
        words: 'keys requests',
        summary: 'show what became of requests to the API and of SMTP sessions, newest first',
        examples: [
          'waybill keys requests shop --refused',
          'waybill keys requests --unknown',
          'waybill keys requests --kind smtp --source 192.168.7.20',
          'waybill keys requests shop --since 2026-11-20T00:00:00Z --json',
        ],
        takes: {
          key: text('[key]', 'name or id of a key; without it, all requests', NONE),
          unknown: flag('--unknown', 'only requests that named no known key'),
          kind: choice('--kind <kind>', 'api: only requests; smtp: only SMTP sessions', KINDS, NONE),
          source: text('--source <address>', 'only what came from this address', NONE),
          message: text('--message <id>', 'only the SMTP session that accepted this message', NONE),
          only: orOption(
            choice(
              '--only <which>',
              'refused: only those that were refused; accepted: only the others',
              OUTCOMES,
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
