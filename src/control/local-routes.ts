import { formatFault } from '../config/fault.ts';
import { STORED_ROUTES } from '../config/gather.ts';
import { readRoutes, ruleDefinition } from '../config/routes.ts';
import type { RouteRule } from '../domain/route.ts';
import { explainQuery } from '../ingest/http/explain.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import { type Progress, UNWATCHED } from '../operations/operation.ts';
import type {
  ExplanationView,
  RehearsalView,
  RouteOperations,
  RouteTableSummary,
  RouteTableView,
} from '../operations/routes.ts';
import type { RequestOf } from '../operations/table.ts';
import type { StoredRoutes } from '../store/registry.ts';
import type { LocalDeps } from './local-deps.ts';
import { asOperationError } from './operation-error.ts';
import { rehearse } from './rehearsal.ts';
import { type TableDefinition, tableOf } from './route-tables.ts';

/** More tables than the store keeps. */
const ALL_TABLES = 1000;

/** The operations on routes. */
export function routeOperations(deps: LocalDeps): RouteOperations {
  let rehearsing = false;
  return {
    routeTables: async ({ limit }) =>
      (await deps.registry.routeTables(limit)).map((table) => summaryOf(table, deps)),
    routeTable: ({ version }) => tableView(version ?? deps.resolution().routesVersion, deps),
    explainRoute: (request) => explain(request, deps),
    rehearseRoutes: async (request, progress = UNWATCHED) => {
      if (rehearsing)
        throw new OperationError(
          'refused',
          'Routes are being rehearsed already. Try again in a few seconds.',
        );
      rehearsing = true;
      try {
        return await rehearseRoutes(request, deps, progress);
      } finally {
        rehearsing = false;
      }
    },
    publishRoutes: ({ routes }) => publish(routes, deps),
    rollbackRoutes: async ({ version }) => publish((await tableView(version, deps)).rules, deps),
  };
}

async function explain({ query }: RequestOf<'explainRoute'>, deps: LocalDeps): Promise<ExplanationView> {
  const given = new URLSearchParams();
  for (const [name, value] of query) given.append(name, value);
  try {
    return await explainQuery(given, deps);
  } catch (error) {
    throw asOperationError(error);
  }
}

async function rehearseRoutes(
  { routes, last }: RequestOf<'rehearseRoutes'>,
  deps: LocalDeps,
  { signal }: Progress<unknown>,
): Promise<RehearsalView> {
  const { config, routesVersion } = deps.resolution();
  const table = tableOf(config, routesVersion);
  return await rehearse({ table, next: { ...table, rules: readRules(routes, deps) } }, last, deps, signal);
}

/** Stores the rules, and puts them into force; what cannot come into force is not stored. */
async function publish(routes: unknown, deps: LocalDeps): Promise<RouteTableView> {
  const { registry } = deps;
  refuseTheFiles(deps);
  const rules = readRules(routes, deps);
  const before = (await registry.settings()).get(STORED_ROUTES) ?? null;
  await registry.putSetting(STORED_ROUTES, JSON.stringify(rules.map(ruleDefinition)));
  const faults = [...(await deps.reload()), ...deps.resolution().faults];
  if (faults.length > 0) {
    await registry.putSetting(STORED_ROUTES, before);
    await deps.reload();
    const lines = faults.map(formatFault).join('\n');
    throw new OperationError('refused', `Nothing was changed: the configuration would be faulty.\n${lines}`);
  }
  // A file that has routes since a moment ago has taken their place.
  refuseTheFiles(deps);
  return await tableView(deps.resolution().routesVersion, deps);
}

function refuseTheFiles(deps: LocalDeps): void {
  const { config, configFile } = deps.resolution();
  if (config.routesOrigin === 'file')
    throw new OperationError(
      'refused',
      `The routes are those of ${configFile}, which has a section routes; change them there, or remove the section first.`,
    );
}

function readRules(raw: unknown, deps: LocalDeps): readonly RouteRule[] {
  const relays = deps.resolution().config.relays.map(({ name }) => name);
  const { rules, faults } = readRoutes({ raw, origin: 'stored', source: 'the given rules' }, relays);
  if (faults.length > 0) throw new OperationError('invalid', faults.map(formatFault).join('\n'));
  return rules;
}

async function tableView(version: number, deps: LocalDeps): Promise<RouteTableView> {
  const table = (await deps.registry.routeTables(ALL_TABLES)).find((kept) => kept.version === version);
  if (table === undefined)
    throw new OperationError(
      'not_found',
      `There is no routing table of version ${version}, or it is kept no more. See: waybill routes list`,
    );
  return { ...summaryOf(table, deps), rules: definitionOf(table).rules };
}

function summaryOf(table: StoredRoutes, deps: LocalDeps): RouteTableSummary {
  const { version, publishedAt, origin } = table;
  const { rules, defaultRelay, postmaster } = definitionOf(table);
  const inForce = version === deps.resolution().routesVersion;
  const facts = { version, publishedAt: formatTimestamp(publishedAt), origin, inForce };
  return { ...facts, ruleCount: rules.length, defaultRelay, postmaster };
}

/** Sound because nothing but `publishTable` writes them. */
function definitionOf({ definition }: StoredRoutes): TableDefinition {
  return JSON.parse(definition) as TableDefinition;
}
