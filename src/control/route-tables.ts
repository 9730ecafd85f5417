import type { Loaded } from '../config/load.ts';
import { type RuleDefinition, ruleDefinition } from '../config/routes.ts';
import type { Config } from '../config/schema.ts';
import { localPostmaster } from '../config/server-name.ts';
import type { RoutingTable } from '../domain/route.ts';
import type { Registry } from '../store/registry.ts';

/** Routing tables as they are published: numbered, and kept, so that it can be told what decided. */

/** A configuration in force, with the version of the routing table that it comes to. */
export interface InForce extends Loaded {
  readonly routesVersion: number;
}

/** What is kept of a published table. */
export interface TableDefinition {
  readonly rules: readonly RuleDefinition[];
  readonly defaultRelay: string;
  readonly postmaster: string | null;
}

/** Of mail that was routed before there were published tables, and of a configuration that cannot be published. */
const UNPUBLISHED = 1;

/**
 * Publishes the table a configuration comes to, if it is not the newest one already, and gives the version. What is
 * faulty is not published: it is not in force.
 */
export async function publishTable(
  { config, faults }: Loaded,
  registry: Pick<Registry, 'publishRoutes' | 'routeTables'>,
  now: number,
): Promise<number> {
  if (faults.length > 0) return (await registry.routeTables(1))[0]?.version ?? UNPUBLISHED;
  const definition = JSON.stringify(tableDefinition(config));
  return await registry.publishRoutes({ publishedAt: now, origin: config.routesOrigin, definition });
}

/** The table a configuration comes to. */
export function tableOf(config: Config, version: number): RoutingTable {
  return {
    version,
    rules: config.routes,
    defaultRelay: config.delivery.defaultRelay,
    postmaster: config.server.postmaster === null ? localPostmaster(config) : null,
  };
}

/** The same as it is kept and shown. */
function tableDefinition(config: Config): TableDefinition {
  const { rules, defaultRelay, postmaster } = tableOf(config, UNPUBLISHED);
  return { rules: rules.map(ruleDefinition), defaultRelay, postmaster };
}
