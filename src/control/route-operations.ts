import { z } from 'zod';
import type { RuleDefinition } from '../config/routes.ts';
import type { explainQuery } from '../ingest/http/explain.ts';
import type { Progress } from './progress.ts';
import type { TableDefinition } from './route-tables.ts';

/** What operators can ask of routing, and do to it: a part of the operations. */
export interface RouteOperations {
  /** The tables published last, newest first. */
  routeTables(request: RouteTablesRequest): Promise<readonly RouteTableSummary[]>;
  /** A published table with its rules. */
  routeTable(request: RouteTableRequest): Promise<RouteTableView>;
  /** Where mail would go, and why. */
  explainRoute(request: ExplainRequest): Promise<ExplanationView>;
  /**
   * What of the mail stored last a changed table would send elsewhere: of fewer messages than asked for where the table is
   * large. Changes nothing. One at a time; refused while another is played.
   */
  rehearseRoutes(request: RehearseRequest, progress?: Progress<never>): Promise<RehearsalView>;
  /** Puts rules into force, in the place of those there are. */
  publishRoutes(request: PublishRequest): Promise<RouteTableView>;
  /** Puts the rules of an earlier version into force again, as a new one. */
  rollbackRoutes(request: RollbackRequest): Promise<RouteTableView>;
}

/** Most messages that are rehearsed. */
export const MAX_REHEARSED = 10_000;

/** The shape of every request on routes. */
export const ROUTE_REQUESTS = {
  routeTables: z.strictObject({ limit: z.int().min(1).max(1000) }),
  routeTable: z.strictObject({
    /** Null for the one in force. */
    version: z.int().min(1).nullable(),
  }),
  explainRoute: z.strictObject({
    /** The parameters of `GET /api/v1/routes/explain`, by name. */
    query: z.array(z.tuple([z.string(), z.string()])).max(200),
  }),
  rehearseRoutes: z.strictObject({
    /** The list of rules as in the configuration file. */
    routes: z.unknown(),
    /** At most so many messages. */
    last: z.int().min(1).max(MAX_REHEARSED),
  }),
  publishRoutes: z.strictObject({ routes: z.unknown() }),
  rollbackRoutes: z.strictObject({ version: z.int().min(1) }),
};

/** See {@link RouteOperations.routeTables}. */
export type RouteTablesRequest = z.infer<typeof ROUTE_REQUESTS.routeTables>;
/** See {@link RouteOperations.routeTable}. */
export type RouteTableRequest = z.infer<typeof ROUTE_REQUESTS.routeTable>;
/** See {@link RouteOperations.explainRoute}. */
export type ExplainRequest = z.infer<typeof ROUTE_REQUESTS.explainRoute>;
/** See {@link RouteOperations.rehearseRoutes}. */
export type RehearseRequest = z.infer<typeof ROUTE_REQUESTS.rehearseRoutes>;
/** See {@link RouteOperations.publishRoutes}. */
export type PublishRequest = z.infer<typeof ROUTE_REQUESTS.publishRoutes>;
/** See {@link RouteOperations.rollbackRoutes}. */
export type RollbackRequest = z.infer<typeof ROUTE_REQUESTS.rollbackRoutes>;

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
export type ExplanationView = Awaited<ReturnType<typeof explainQuery>>;

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
