import { z } from 'zod';
import type { RuleDefinition } from '../config/routes.ts';
import type { TableDefinition } from '../control/in-force.ts';
import type { Shown } from '../ingest/http/answers.ts';
import type { routeExplanationSchema } from '../ingest/http/operator-answers.ts';
import { integer, type TableForm } from './command.ts';
import { changes, look, type OperationsOf, operation, READ, unrecorded } from './operation.ts';

/** Most messages that are rehearsed. */
export const MAX_REHEARSED = 10_000;

/** A published table without its rules. */
export interface RouteTableSummary extends Omit<TableDefinition, 'rules'> {
  readonly version: number;
  readonly publishedAt: string;
  /** Where its rules came from: the file, or what was published by command. */
  readonly origin: 'file' | 'stored';
  readonly inForce: boolean;
  readonly ruleCount: number;
}

/** A published table. */
export interface RouteTableView extends RouteTableSummary {
  readonly rules: readonly RuleDefinition[];
}

/** An explanation as the API gives it. */
export type ExplanationView = Shown<typeof routeExplanationSchema>;

/** What a changed table would do. Counts are of recipients, but for `messages`. */
export interface RehearsalView {
  readonly messages: number;
  readonly recipients: number;
  /** Their first relay, and what follows it, is the same. */
  readonly unchanged: number;
  /** The first relay is the same, those that follow are not. */
  readonly otherFallback: number;
  /** What would go elsewhere, the most first. */
  readonly moves: readonly RehearsedMove[];
  /** Rules that looked at where messages were submitted from, which is not kept with them: none matched. */
  readonly blindRules: readonly string[];
}

/** Mail that would go by another relay. */
export interface RehearsedMove {
  readonly from: string;
  readonly to: string;
  readonly recipients: number;
  /** The first that were found, which are the newest. */
  readonly examples: readonly RehearsedExample[];
}

/** See {@link RehearsedMove.examples}. */
export interface RehearsedExample {
  readonly id: string;
  readonly recipient: string;
  /** The rules that decide now, and would; null for the default relay. */
  readonly rule: string | null;
  readonly newRule: string | null;
}

/** The routing table in force. */
const ROUTES = look<RouteTableView>(
  'routeTable',
  () => ({ version: null }),
  (table) => table,
);

/** Versions that can be named on the command line. */
const VERSIONS = [1, Number.MAX_SAFE_INTEGER] as const;

/** Where the rules of a table are kept: a file has them all, or whoever publishes them does so here. */
const RULES_FROM: Readonly<Record<RouteTableSummary['origin'], string>> = {
  file: 'the file',
  stored: 'the database',
};

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
    meaning: 'The tables published last, newest first.',
    access: READ,
    request: z.strictObject({ limit: z.int().min(1).max(1000) }),
    result: z.custom<readonly RouteTableSummary[]>(),
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
      /** Null for the one in force. */
      version: z.int().min(1).nullable(),
    }),
    result: z.custom<RouteTableView>(),
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
      /** The parameters of `GET /api/v1/routes/explain`, by name. */
      query: z.array(z.tuple([z.string(), z.string()])).max(200),
    }),
    result: z.custom<ExplanationView>(),
  }),
  rehearseRoutes: operation({
    meaning:
      'What of the mail stored last a changed table would send elsewhere: of fewer messages than asked for where the table is large. Changes nothing. One at a time; refused while another is played.',
    // Changes nothing, but takes seconds of the processor.
    access: unrecorded('operator'),
    request: z.strictObject({
      /** The list of rules as in the configuration file. */
      routes: z.unknown(),
      /** At most so many messages. */
      last: z.int().min(1).max(MAX_REHEARSED),
    }),
    result: z.custom<RehearsalView>(),
  }),
  publishRoutes: operation({
    meaning: 'Puts rules into force, in the place of those there are.',
    access: changes({
      words: 'Published a routing table',
      subject: null,
      look: ROUTES,
      touches: ['routes', 'queue'],
    }),
    request: z.strictObject({ routes: z.unknown() }),
    result: z.custom<RouteTableView>(),
  }),
  rollbackRoutes: operation({
    meaning: 'Puts the rules of an earlier version into force again, as a new one.',
    access: changes({
      words: 'Went back to an earlier routing table',
      subject: 'version',
      look: ROUTES,
      touches: ['routes', 'queue'],
    }),
    request: z.strictObject({ version: z.int().min(1) }),
    result: z.custom<RouteTableView>(),
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
