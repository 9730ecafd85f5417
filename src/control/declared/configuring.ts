import { type Fault, formatFault } from '../../config/fault.ts';
import { provenNote } from '../../config/hook-tokens.ts';
import { type Change, canonical } from '../../domain/declared.ts';
import { OperationError } from '../../operations/call.ts';
import type {
  AppliedView,
  ConfiguringOperations,
  ExportedView,
  PlanView,
} from '../../operations/configuring.ts';
import { type Progress, UNWATCHED } from '../../operations/operation.ts';
import type { RequestOf, StepOf } from '../../operations/table.ts';
import type { ConfigurationChanges, Configured, Meanwhile } from '../../store/configuring.ts';
import type { StoredTemplate } from '../../store/templates.ts';
import type { LocalDeps } from '../deps.ts';
import { inDomainOrder } from '../domain-book.ts';
import { requireGoodSources } from '../in-force.ts';
import { relayViews } from '../relay-views.ts';
import { planFile, SECTIONS } from './plan.ts';
import { type PresentTemplate, secretFile, type World } from './section.ts';

/** See {@link ConfiguringOperations}. */
export function configuringOperations(deps: LocalDeps): ConfiguringOperations {
  return {
    exportConfiguration: async (request) => exportWorld(request, await readWorld(deps)),
    planConfiguration: async (request) => (await planFile(request, await readWorld(deps))).view,
    // What minds the domains writes them whole: it waits, and sees what this leaves.
    applyConfiguration: (request, progress = UNWATCHED) =>
      inDomainOrder(deps.registry, () => applyFile(request, progress, deps)),
  };
}

/** Bytes of an export as JSON: as much as a file may have. */
const MAX_EXPORT = 16 * 1024 * 1024;

function exportWorld({ sections = null }: RequestOf<'exportConfiguration'>, world: World): ExportedView {
  const configuration: Record<string, unknown> = {};
  const files: string[] = [];
  const wanted = SECTIONS.filter(({ name }) => sections === null || sections.includes(name));
  for (const section of wanted) {
    const items = section.present(world);
    if (items === null) continue;
    configuration[section.name] = section.written(items);
    for (const { name, secrets } of items)
      files.push(...Object.keys(secrets).map((field) => secretFile(section.name, name, field)));
  }
  const size = Buffer.byteLength(JSON.stringify(configuration));
  if (size > MAX_EXPORT)
    throw new OperationError(
      'refused',
      `The export would have ${size} bytes; a file may have ${MAX_EXPORT}. Export fewer sections: waybill export --only relays --only routes`,
    );
  const elsewhere = wanted.flatMap((section) => section.elsewhere?.(world) ?? []);
  return { configuration, files, elsewhere };
}

async function applyFile(
  request: RequestOf<'applyConfiguration'>,
  progress: Progress<StepOf<'applyConfiguration'>>,
  deps: LocalDeps,
): Promise<AppliedView> {
  const { plan: hash, planned = null, basis = null, ...file } = request;
  const world = await readWorld(deps);
  const plan = await planFile(file, world);
  if (plan.view.hash !== hash) throw notPlanned(hash, { planned, basis }, plan.view);
  const { changes, made } = await plan.make(progress);
  // Nobody would be there to read the secrets that were made.
  if (progress.signal.aborted)
    throw new OperationError('unavailable', 'Nothing was changed: the caller has gone.');
  const others = await deps.configuring.configure(changes, world.seen);
  if (others.length > 0) throw changedMeanwhile(others);
  const faults = await settle(changes, deps);
  return { ...plan.view, made, faults: faults.map(formatFault) };
}

/** The refusal where somebody else was faster. */
function changedMeanwhile(others: readonly Meanwhile[]): OperationError {
  const lines = others.map(({ kind, name, how }) => `${kind} ${name}: ${how}`);
  return new OperationError(
    'refused',
    [
      'Nothing was changed, because somebody else changed something meanwhile. Plan again.',
      ...atMost(MAX_LINES, lines),
    ].join('\n'),
  );
}

/** The first of some lines, and how many there are besides. */
function atMost(most: number, lines: readonly string[]): string[] {
  return lines.length > most ? [...lines.slice(0, most), `… and ${lines.length - most} more`] : [...lines];
}

/** What the notes of a relay's hook begin with. */
const PROVEN = provenNote('');

/**
 * Lets go of what was known of former relays, and puts the rest into force. Returns the faults that keep it out: of the
 * configuration file, which became faulty meanwhile.
 */
async function settle(changes: ConfigurationChanges, deps: LocalDeps): Promise<readonly Fault[]> {
  for (const [key, after] of changes.settings)
    if (after === null && key.startsWith(PROVEN)) deps.server()?.forgetHookProofs(key.slice(PROVEN.length));
  return await deps.reload();
}

/** The refusal of a plan that was made of another state, or of another file: it says what differs. */
function notPlanned(
  hash: string,
  {
    planned,
    basis,
  }: { readonly planned: readonly Change[] | null; readonly basis: PlanView['basis'] | null },
  now: PlanView,
): OperationError {
  const lines =
    planned === null
      ? now.changes.map((change) => `now: ${lineOf(change)}`)
      : differingLines(planned, now.changes);
  const moved = Object.keys({ ...basis, ...now.basis }).filter(
    (section) => basis !== null && basis[section] !== now.basis[section],
  );
  const judged = moved.map((section) => `not as it was planned: the section ${section}`);
  const head = `Nothing was changed: the plan ${hash} was made of another state, or of another file.`;
  const rest = now.changes.length === 0 ? ['now: nothing would change.'] : atMost(MAX_LINES, lines);
  return new OperationError(
    'refused',
    [head, ...rest, ...judged, `The plan is now ${now.hash}: waybill plan shows it.`].join('\n'),
  );
}

const MAX_LINES = 50;

function differingLines(planned: readonly Change[], now: readonly Change[]): string[] {
  const keyed = (changes: readonly Change[]) =>
    new Map(changes.map((change) => [`${change.section} ${change.name}`, change]));
  const [before, after] = [keyed(planned), keyed(now)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [then, today] = [before.get(key), after.get(key)];
    if (canonical(then) === canonical(today)) return [];
    return [
      ...(then === undefined ? [] : [`planned: ${lineOf(then)}`]),
      ...(today === undefined ? [`now: ${key} would not change`] : [`now: ${lineOf(today)}`]),
    ];
  });
}

const MAX_VALUE = 60;

function lineOf({ section, name, action, fields }: Change): string {
  const shown = (value: unknown) => {
    const text = JSON.stringify(value);
    return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
  };
  const parts = fields.map(({ field, before, after }) => `${field} ${shown(before)} → ${shown(after)}`);
  return `${action} ${section} ${name}${action === 'change' ? `: ${parts.join(', ')}` : ''}`;
}

/** Reads all that can be declared. Throws `OperationError` while it cannot be changed. */
async function readWorld(deps: LocalDeps): Promise<World> {
  // Before the configuration in force is: whatever that knows besides keeps all of it from being stored.
  const seen = await deps.configuring.configured();
  await requireGoodSources(deps);
  const { vault } = deps.resolution();
  if (vault === null)
    throw new OperationError(
      'unavailable',
      'The key that encrypts secrets cannot be read. See: waybill config',
    );
  return {
    ...seen,
    seen,
    now: deps.clock.wall(),
    deps,
    vault,
    relayViews: await relayViews(deps),
    relays: inOrder(seen.relays, ({ name }) => name),
    domains: inOrder(seen.domains, ({ name }) => name),
    keys: inOrder(seen.keys, ({ name }) => name),
    webhooks: inOrder(seen.webhooks, ({ endpoint }) => endpoint.id),
    templates: inOrder(await readTemplates(seen, deps), ({ newest }) => newest.alias),
  };
}

/** Rows in the order of their names' characters: each database has an order of its own. */
function inOrder<Row>(rows: readonly Row[], nameOf: (row: Row) => string): readonly Row[] {
  return [...rows].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

async function readTemplates(
  { templates: states }: Configured,
  { templates }: Pick<LocalDeps, 'templates'>,
): Promise<PresentTemplate[]> {
  const found: PresentTemplate[] = [];
  for (const { id, version, publishedVersion } of states) {
    const newest = await templates.template(id, version);
    const published = await publishedOf(id, version, publishedVersion, newest, templates);
    // One that was removed meanwhile is not there.
    if (newest !== null) found.push({ newest, published });
  }
  return found;
}

async function publishedOf(
  id: string,
  version: number,
  publishedVersion: number | null,
  newest: StoredTemplate | null,
  templates: LocalDeps['templates'],
): Promise<StoredTemplate | null> {
  if (publishedVersion === null) return null;
  return publishedVersion === version ? newest : await templates.template(id, publishedVersion);
}
