import { z } from 'zod';
import type { routeExplanationSchema } from '../ingest/http/operator-answers.ts';
import { integer, list, needed, optional, type TableForm, text } from './command.ts';
import { changes, look, type OperationsOf, operation, READ, type Shown, unrecorded } from './operation.ts';

/** Most messages that are rehearsed. */
const MAX_REHEARSED = 10_000;

/** A rule as it stands in the configuration file. */
const rule = () =>
  z.strictObject({
    name: z.string(),
    match: z.record(z.string(), z.unknown()),
    via: z.array(z.union([z.string(), z.strictObject({ relay: z.string(), weight: z.number() })])),
  });

const routeTableSummary = () =>
  z.strictObject({
    version: z.number(),
    defaultRelay: z.string(),
    postmaster: z.string().nullable(),
    publishedAt: z.string(),
    /** Where its rules came from: the file, or what was published by command. */
    origin: z.enum(['file', 'stored']),
    inForce: z.boolean(),
    ruleCount: z.number(),
  });

/** A published table without its rules. */
export type RouteTableSummary = Shown<typeof routeTableSummary>;

const routeTableView = () =>
  routeTableSummary().extend({
    rules: z.array(rule()),
  });

/** A published table. */
export type RouteTableView = Shown<typeof routeTableView>;

/** An explanation as the API gives it. */
export type ExplanationView = Shown<typeof routeExplanationSchema>;

const rehearsalView = () =>
  z.strictObject({
    messages: z.number(),
    recipients: z.number(),
    /** Their first relay, and what follows it, is the same. */
    unchanged: z.number(),
    /** The first relay is the same, those that follow are not. */
    otherFallback: z.number(),
    /** What would go elsewhere, the most first. */
    moves: z.array(rehearsedMove()),
    /** Rules that looked at where messages were submitted from, which is not kept with them: none matched. */
    blindRules: z.array(z.string()),
  });

/** What a changed table would do. Counts are of recipients, but for `messages`. */
export type RehearsalView = Shown<typeof rehearsalView>;

/** Mail that would go by another relay. */
const rehearsedMove = () =>
  z.strictObject({
    from: z.string(),
    to: z.string(),
    recipients: z.number(),
    /** The first that were found, which are the newest. */
    examples: z.array(rehearsedExample()),
  });

const rehearsedExample = () =>
  z.strictObject({
    id: z.string(),
    recipient: z.string(),
    /** The rules that decide now, and would; null for the default relay. */
    rule: z.string().nullable(),
    newRule: z.string().nullable(),
  });

/** See {@link RehearsedMove.examples}. */
export type RehearsedExample = Shown<typeof rehearsedExample>;

/** The routing table in force. */
const ROUTES = look<RouteTableView>(
  'routeTable',
  () => ({ version: null }),
  (table) => table,
);

/** Versions that can be named on the command line. */
const VERSIONS = [1, Number.MAX_SAFE_INTEGER] as const;

/** Sizes of a message, in bytes. */
const SIZES = [0, Number.MAX_SAFE_INTEGER] as const;

/** Where the rules of a table are kept: a file has them all, or whoever publishes them does so here. */
const RULES_FROM: Readonly<Record<RouteTableSummary['origin'], string>> = {
  file: 'the file',
  stored: 'the database',
};

/** A list of rules, by the name of its file. */
const RULES = text('<file>', 'YAML with routes:, or only the list of rules; - for standard input', {
  absent: '',
});

/** Published tables under each other. */
const TABLE_OF_TABLES: TableForm<RouteTableSummary> = {
  columns: {
    VERSION: ({ version, inForce }) => (inForce ? `${version} (in force)` : String(version)),
    PUBLISHED: ({ publishedAt }) => publishedAt,
    'RULES KEPT IN': ({ origin }) => RULES_FROM[origin],
    RULES: ({ ruleCount }) => String(ruleCount),
    DEFAULT: ({ defaultRelay }) => defaultRelay,
  },
  empty: 'No table has been published yet; the server publishes one when it starts.',
};

/** What operators can ask of routing, and do to it. */
export const ROUTE_OPERATIONS = {
  routeTables: operation({
    meaning: 'The latest published tables, newest first.',
    access: READ,
    request: z.strictObject({ limit: z.int().min(1).max(1000) }),
    result: () => z.array(routeTableSummary()),
    commands: [
      {
        words: 'routes list',
        summary: 'show the latest published routing tables',
        examples: ['waybill routes list'],
        takes: { limit: integer('--limit <n>', 'show at most this many', [1, 1000], { absent: 20 }) },
        cures: true,
        prints: TABLE_OF_TABLES,
      },
    ],
  }),
  routeTable: operation({
    meaning: 'A published table with its rules.',
    access: READ,
    request: z.strictObject({
      version: z.int().min(1).nullable().describe('Null for the one in force.'),
    }),
    result: routeTableView,
    commands: [
      {
        words: 'routes show',
        summary: 'show the rules of a table in the form of a file',
        examples: ['waybill routes show', 'waybill routes show 7 > rules.yaml'],
        takes: {
          version: integer('[version]', 'its version (default: the one in force)', VERSIONS, {
            absent: null,
          }),
        },
        cures: true,
      },
    ],
  }),
  explainRoute: operation({
    meaning: 'Where mail would go, and why.',
    access: READ,
    request: z.strictObject({
      query: z
        .array(z.tuple([z.string(), z.string()]))
        .max(200)
        .describe('The parameters of `GET /api/v1/routes/explain`, by name.'),
    }),
    result: ({ routeExplanationSchema }) => routeExplanationSchema,
    commands: [
      {
        words: 'routes explain',
        summary: 'say where mail would go, and why',
        examples: [
          'waybill routes explain --from ann@example.com --to bob@example.org --tag news',
          "waybill routes explain --from '<>' --to bob@example.org --source printer --size 20000000",
        ],
        takes: {
          query: {
            parts: {
              from: needed(
                '--from <address>',
                "required: the envelope's sender; <> is the null reverse-path",
              ),
              to: needed('--to <address>', 'required: the recipient'),
              tag: list('--tag <tag>', 'a tag of the message; may be repeated', { absent: [] }),
              key: optional('--key <name>', 'the API key that submits it'),
              source: optional('--source <name>', 'the device of listener.sources that submits it'),
              sourceAddress: optional('--source-address <address>', 'the address that it is submitted from'),
              sizeBytes: integer('--size <bytes>', 'its size (default: 0)', SIZES, { absent: undefined }),
              at: optional('--at <time>', 'when it is to be sent, in RFC 3339 (default: now)'),
            },
            join: (given) => given,
          },
        },
      },
    ],
  }),
  rehearseRoutes: operation({
    meaning:
      'Which recent mail a changed table would route differently; looks at fewer messages than asked for if the table is large. Changes nothing. Only one runs at a time; others are refused.',
    // Changes nothing, but takes seconds of the processor.
    access: unrecorded('operator'),
    request: z.strictObject({
      routes: z.unknown().describe('The list of rules as in the configuration file.'),
      last: z.int().min(1).max(MAX_REHEARSED).describe('The most messages to look at.'),
    }),
    result: rehearsalView,
    commands: [
      {
        words: 'routes test',
        summary: 'show which recent mail a changed table would route differently',
        examples: ['waybill routes test rules.yaml', 'waybill routes test rules.yaml --last 10000 --json'],
        takes: {
          routes: RULES,
          last: integer('--last <n>', 'number of recent messages to use', [1, MAX_REHEARSED], {
            absent: 1000,
          }),
        },
      },
    ],
  }),
  publishRoutes: operation({
    meaning: 'Publishes rules, which replace the present ones.',
    access: changes({
      words: 'Published a routing table',
      subject: null,
      look: ROUTES,
      touches: ['routes', 'queue'],
    }),
    request: z.strictObject({ routes: z.unknown() }),
    result: routeTableView,
    commands: [
      {
        words: 'routes publish',
        summary: 'publish the rules of a file; waiting mail is routed anew',
        examples: ['waybill routes test rules.yaml && waybill routes publish rules.yaml'],
        takes: { routes: RULES },
        // New rules can be the cure of a faulty configuration.
        cures: true,
      },
    ],
  }),
  rollbackRoutes: operation({
    meaning: 'Publishes the rules of an earlier version again, as a new version.',
    access: changes({
      words: 'Went back to an earlier routing table',
      subject: 'version',
      look: ROUTES,
      touches: ['routes', 'queue'],
    }),
    request: z.strictObject({ version: z.int().min(1) }),
    result: routeTableView,
    commands: [
      {
        words: 'routes rollback',
        summary: 'publish the rules of an earlier version again, as a new version',
        examples: ['waybill routes rollback 7'],
        takes: { version: integer('<version>', 'the version; see: waybill routes list', VERSIONS) },
        cures: true,
      },
    ],
  }),
};

/** Those who carry them out. */
export type RouteOperations = OperationsOf<typeof ROUTE_OPERATIONS>;
