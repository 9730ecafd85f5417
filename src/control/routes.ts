import { formatFault } from '../config/fault.ts';
import { STORED_ROUTES } from '../config/gather.ts';
import { readRoutes, ruleDefinition } from '../config/routes.ts';
import type { MessageRecord } from '../domain/message.ts';
import {
  messageDice,
  type RouteDecision,
  type RouteRule,
  type RoutingTable,
  route,
} from '../domain/route.ts';
import type { RouteFacts } from '../domain/route-match.ts';
import { explainQuery } from '../ingest/http/explain.ts';
import { formatTimestamp, inSlices, type Sliced } from '../lib/clock.ts';
import { asOperationError, OperationError } from '../operations/call.ts';
import { type Progress, UNWATCHED } from '../operations/operation.ts';
import type {
  ExplanationView,
  RehearsalView,
  RehearsedExample,
  RouteOperations,
  RouteTableSummary,
  RouteTableView,
} from '../operations/routes.ts';
import type { RequestOf } from '../operations/table.ts';
import type { StoredRoutes } from '../store/registry.ts';
import type { LocalDeps } from './deps.ts';
import { putIntoForce, type TableDefinition, tableOf } from './in-force.ts';

/** More than the number of tables that the store keeps. */
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
        throw new OperationError('refused', 'Another rehearsal is in progress. Try again in a few seconds.');
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

/** Stores the rules and applies them; rules that cannot take effect are not stored. */
async function publish(routes: unknown, deps: LocalDeps): Promise<RouteTableView> {
  const { registry } = deps;
  refuseTheFiles(deps);
  const rules = readRules(routes, deps);
  const before = (await registry.settings()).get(STORED_ROUTES) ?? null;
  const reload = async () => [...(await deps.reload()), ...deps.resolution().faults];
  await putIntoForce(
    { reload },
    () => registry.putSetting(STORED_ROUTES, JSON.stringify(rules.map(ruleDefinition))),
    () => registry.putSetting(STORED_ROUTES, before),
  );
  // The file may just have got routes, which replace these.
  refuseTheFiles(deps);
  return await tableView(deps.resolution().routesVersion, deps);
}

function refuseTheFiles(deps: LocalDeps): void {
  const { config, configFile } = deps.resolution();
  if (config.routesOrigin === 'file')
    throw new OperationError(
      'refused',
      `The routes come from ${configFile}, which has a section routes; change them there, or remove the section first.`,
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
      `There is no routing table of version ${version}, or it is no longer kept. See: waybill routes list`,
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

/** Sound because only `publishTable` writes them. */
function definitionOf({ definition }: StoredRoutes): TableDefinition {
  return JSON.parse(definition) as TableDefinition;
}

const PAGE = 200;
/** Examples shown of each move. */
const EXAMPLES = 3;
/** Rules and time windows to evaluate before other work gets a turn: a few milliseconds. */
const SLICE_STEPS = 20_000;
/** After this many steps, no further message is tried: about a second. */
const MAX_STEPS = 5_000_000;

/** The result so far. */
interface Tally {
  messages: number;
  recipients: number;
  unchanged: number;
  otherFallback: number;
  readonly moves: Map<string, Move>;
  /** Rules and time windows evaluated, at most. */
  steps: number;
}

/** The table in force, and the proposed one. */
interface Tables {
  readonly table: RoutingTable;
  readonly next: RoutingTable;
}

interface Move {
  readonly from: string;
  readonly to: string;
  recipients: number;
  readonly examples: RehearsedExample[];
}

/**
 * Compares what `next` and `table` would do with each recipient of the last messages: with the same dice, at the time
 * when each was to be sent. The current state of relays is ignored. Large tables are tried with fewer messages, whole
 * ones and at least one. Throws `OperationError` once `signal` aborts.
 */
export async function rehearse(
  tables: Tables,
  last: number,
  { views, keyring }: Pick<LocalDeps, 'views' | 'keyring'>,
  signal: AbortSignal = UNWATCHED.signal,
): Promise<RehearsalView> {
  const names = new Map((await keyring.list()).map(({ id, name }) => [id, name]));
  const tally: Tally = {
    messages: 0,
    recipients: 0,
    unchanged: 0,
    otherFallback: 0,
    moves: new Map(),
    steps: 0,
  };
  let before: string | null = null;
  do {
    const limit = Math.min(PAGE, last - tally.messages);
    const page = await views.list({ owner: 'all', statuses: [], before, limit });
    await inSlices(comparePage(page.messages, names, { tables, tally, signal }));
    before = page.next;
  } while (before !== null && tally.messages < last && tally.steps < MAX_STEPS);
  const { moves, steps: _, ...counts } = tally;
  return {
    ...counts,
    moves: [...moves.values()].sort((a, b) => b.recipients - a.recipients),
    blindRules: tables.next.rules
      .filter(({ match }) => match.sourceCidr !== undefined)
      .map(({ name }) => name),
  };
}

/** The inputs of a page's rehearsal, its result, and whether anybody waits for it. */
interface Play {
  readonly tables: Tables;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

function* comparePage(
  messages: readonly MessageRecord[],
  keyNames: ReadonlyMap<string, string>,
  play: Play,
): Sliced<void> {
  const { tables, tally, signal } = play;
  const steps = stepsOf(tables.table) + stepsOf(tables.next);
  let slice = 0;
  for (const message of messages) {
    if (tally.steps >= MAX_STEPS) return;
    const { id, keyId, to, cc, bcc } = message;
    const dice = messageDice(id);
    const keyName = keyId === null ? null : (keyNames.get(keyId) ?? null);
    tally.messages++;
    for (const recipient of [...to, ...cc, ...bcc]) {
      const facts = factsOf(message, recipient, keyName);
      count({ id, recipient }, route(facts, tables.table, dice), route(facts, tables.next, dice), tally);
      tally.steps += steps;
      slice += steps;
      if (slice < SLICE_STEPS) continue;
      slice = 0;
      yield;
      if (signal.aborted)
        throw new OperationError('unavailable', 'The client that asked for the rehearsal has disconnected.');
    }
  }
}

/** The most steps for one recipient: everything but times of the week is looked up, however many there are. */
function stepsOf({ rules }: RoutingTable): number {
  return rules.reduce((sum, { match }) => sum + 1 + (match.time?.length ?? 0), 1);
}

function count(
  place: Pick<RehearsedExample, 'id' | 'recipient'>,
  now: RouteDecision,
  then: RouteDecision,
  tally: Tally,
): void {
  const [from = ''] = now.group;
  const [to = ''] = then.group;
  tally.recipients++;
  if (from === to) {
    if (now.group.join() === then.group.join()) tally.unchanged++;
    else tally.otherFallback++;
    return;
  }
  const key = `${from} ${to}`;
  const move = tally.moves.get(key) ?? { from, to, recipients: 0, examples: [] };
  tally.moves.set(key, move);
  move.recipients++;
  if (move.examples.length < EXAMPLES) move.examples.push({ ...place, rule: now.rule, newRule: then.rule });
}

/** Listed messages do not keep their source. */
function factsOf(message: MessageRecord, recipient: string, keyName: string | null): RouteFacts {
  const { envelopeFrom, tags, keyId, sizeBytes, test, createdAt, sendAt } = message;
  return {
    recipient,
    reversePath: envelopeFrom,
    tags,
    keyId,
    keyName,
    sizeBytes,
    test,
    sourceAddress: null,
    now: Math.max(createdAt, sendAt ?? 0),
  };
}
