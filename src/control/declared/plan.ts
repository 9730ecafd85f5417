import { createHmac } from 'node:crypto';
import { formatFault, unknownRule } from '../../config/fault.ts';
import {
  canonical,
  changedSecrets,
  changeOf,
  type Difference,
  differencesIn,
  type Item,
  SECTION_NAMES,
  type SectionName,
} from '../../domain/declared.ts';
import { MAX_DOMAINS } from '../../domain/domain-keys.ts';
import { WEBHOOK_LIMITS } from '../../domain/webhook.ts';
import { Few } from '../../lib/few.ts';
import { createIdSource } from '../../lib/id.ts';
import { OperationError } from '../../operations/call.ts';
import type { MadeSecret, PlanView } from '../../operations/configuring.ts';
import type { Progress } from '../../operations/operation.ts';
import type { RequestOf, StepOf } from '../../operations/table.ts';
import type { ConfigurationChanges, Swap, WebhookRow } from '../../store/configuring.ts';
import { TEMPLATE_BOUNDS } from '../templates.ts';
import { DOMAINS } from './domains.ts';
import { KEYS, keysAfter, lockedOut } from './keys.ts';
import { RELAYS } from './relays.ts';
import { type Making, rowsAfter, type Section, type World } from './section.ts';
import { DELIVERY, ROUTES, SUPPRESSIONS } from './settings.ts';
import { TEMPLATES } from './templates.ts';
import { WEBHOOKS } from './webhooks.ts';

/** What a file would change, and what that is in rows of the store. */

/** Every section, in the order in which they are read. */
export const SECTIONS: readonly Section[] = [
  RELAYS,
  DELIVERY,
  ROUTES,
  SUPPRESSIONS,
  DOMAINS,
  KEYS,
  WEBHOOKS,
  TEMPLATES,
];

/** A plan that can be carried out. */
export interface Plan {
  readonly view: PlanView;
  /** The rows that change, once more: with keys and secrets of their own. Makes no more of them once nobody waits. */
  make(
    progress: Progress<StepOf<'applyConfiguration'>>,
  ): Promise<{ readonly changes: ConfigurationChanges; readonly made: readonly MadeSecret[] }>;
}

/** By what else the differences of a section are judged: what names its items, and what they name. */
const JUDGED_BY: Readonly<Record<SectionName, readonly SectionName[]>> = {
  relays: ['delivery', 'routes'],
  delivery: ['relays'],
  routes: ['relays', 'keys'],
  suppressions: [],
  domains: [],
  keys: ['routes', 'webhooks'],
  webhooks: ['keys'],
  templates: [],
};

/** Plans what a file changes. Throws `OperationError` with all its faults. */
export async function planFile(request: RequestOf<'planConfiguration'>, world: World): Promise<Plan> {
  const faults: string[] = [];
  const fault = (place: string, text: string) => void faults.push(place === '' ? text : `${place}: ${text}`);
  const declared = readFile(request, world, fault);
  refuse(faults);
  const all = SECTIONS.flatMap((section) => {
    const wanted = declared.get(section.name);
    return wanted === undefined ? [] : differencesIn(section.name, section.present(world) ?? [], wanted);
  });
  const differences = all.filter(({ wanted }) => wanted !== null || request.prune === true);
  await rehearse(differences, declared, world, fault);
  refuse(faults);
  const basis = basisOf(differences, world);
  const view = {
    hash: hashOf(differences, basis, world),
    basis,
    changes: differences.map(changeOf),
    left: all
      .filter((one) => !differences.includes(one))
      .map(({ section, present }) => ({ section, name: present?.name ?? '' })),
  };
  return { view, make: (progress) => makeRows(differences, declared, world, progress) };
}

/** Of more faults these are told. */
const MAX_FAULTS = 50;

function refuse(told: readonly string[]): void {
  if (told.length === 0) return;
  // A change is rehearsed after it was read, so that both may find the same.
  const faults = [...new Set(told)];
  const more = faults.length > MAX_FAULTS ? [`… and ${faults.length - MAX_FAULTS} more`] : [];
  throw new OperationError('invalid', [...faults.slice(0, MAX_FAULTS), ...more].join('\n'));
}

function readFile(
  { configuration, secrets = {}, prune = false }: RequestOf<'planConfiguration'>,
  world: World,
  fault: (place: string, text: string) => void,
): ReadonlyMap<SectionName, readonly Item[]> {
  for (const name of Object.keys(configuration))
    if (!SECTION_NAMES.some((section) => section === name))
      fault(name, unknownRule('section', name, SECTION_NAMES, SECTION_NAMES.join(', ')));
  const declared = new Map<SectionName, readonly Item[]>();
  const secret = (file: string) => (Object.hasOwn(secrets, file) ? secrets[file] : undefined);
  for (const section of SECTIONS) {
    const raw = configuration[section.name];
    if (raw === undefined) continue;
    if (raw === null) {
      const none = section.name === 'delivery' || section.name === 'suppressions' ? '{}' : '[]';
      fault(section.name, `has no value; write ${none} for none, or leave it out to keep what is there`);
      continue;
    }
    declared.set(
      section.name,
      section.read(raw, { world, declared, prune, raw: configuration, secret, fault }),
    );
  }
  return declared;
}

/** Finds what may not be, and what could not come into force. */
async function rehearse(
  differences: readonly Difference[],
  declared: ReadonlyMap<SectionName, readonly Item[]>,
  world: World,
  fault: (place: string, text: string) => void,
): Promise<void> {
  const making = newMaking(declared, world, true);
  for (const difference of differences)
    try {
      await sectionNamed(difference.section).carryOut(difference, making);
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      fault(`${difference.section} ${(difference.wanted ?? difference.present)?.name ?? ''}`, error.message);
    }
  const locked = lockedOut(making);
  if (locked !== null) fault('keys', locked);
  for (const text of tooMany(making)) fault('', text);
  const settings = new Map(world.settings);
  for (const [key, after] of making.settings)
    if (after === null) settings.delete(key);
    else settings.set(key, after);
  const relays = rowsAfter(world.relays, making.relays, ({ name }) => name);
  for (const one of await world.deps.faultsWith({ relays, settings })) fault('', formatFault(one));
}

/** What would become more than there may be. */
function tooMany(making: Making): string[] {
  const { world, domains, webhooks, templates } = making;
  const { ofKey, all } = WEBHOOK_LIMITS;
  const ofKeys = keysAfter(making).flatMap(({ id, name }) => {
    const isOwn = (row: WebhookRow | null) => row?.endpoint.keyId === id;
    const swaps = webhooks.filter(({ before, after }) => isOwn(before ?? after));
    return beyond('webhooks', world.webhooks.filter(isOwn), swaps, ofKey, ` of the key ${name}`);
  });
  return [
    ...beyond('domains', world.domains, domains, MAX_DOMAINS),
    ...beyond('webhooks', world.webhooks, webhooks, all),
    ...ofKeys,
    ...beyond('templates', world.templates, templates, TEMPLATE_BOUNDS.templates),
  ];
}

/** The fault of rows that would be more than `most`; none where none is added. */
function beyond(
  section: SectionName,
  present: readonly unknown[],
  swaps: readonly Swap<unknown>[],
  most: number,
  whose = '',
): string[] {
  const added = swaps.filter(({ before }) => before === null).length;
  const count = present.length + added - swaps.filter(({ after }) => after === null).length;
  if (added === 0 || count <= most) return [];
  return [`${section}: there would be ${count}${whose}, and there may be ${most}`];
}

/** Domains whose keys are made at once: Node has four threads for such work, and mail needs them, too. */
const AT_ONCE = 2;

function isDomain({ section, wanted }: Difference): boolean {
  return section === 'domains' && wanted !== null;
}

async function makeRows(
  differences: readonly Difference[],
  declared: ReadonlyMap<SectionName, readonly Item[]>,
  world: World,
  { tell, signal }: Progress<StepOf<'applyConfiguration'>>,
) {
  const making = newMaking(declared, world, false);
  const total = differences.filter(isDomain).length;
  let done = 0;
  const few = new Few(AT_ONCE);
  const carryOut = async (difference: Difference) => {
    if (signal.aborted) return;
    await sectionNamed(difference.section).carryOut(difference, making);
    if (isDomain(difference)) tell({ done: ++done, total });
  };
  // They begin in their order; only those of domains wait for anything: for keys, which are made beside each other.
  await Promise.all(differences.map((difference) => few.run(() => carryOut(difference))));
  const { relays, settings, domains, keys, webhooks, templates, made } = making;
  const bounds = { webhooks: WEBHOOK_LIMITS, templates: TEMPLATE_BOUNDS };
  return { changes: { relays, settings, domains, keys, webhooks, templates, now: world.now, bounds }, made };
}

function newMaking(
  declared: ReadonlyMap<SectionName, readonly Item[]>,
  world: World,
  isRehearsal: boolean,
): Making {
  const { clock, random } = world.deps;
  const ids = { whe_: createIdSource(clock, random, 'whe_'), tpl_: createIdSource(clock, random, 'tpl_') };
  return {
    world,
    isRehearsal,
    declared,
    relays: [],
    settings: new Map(),
    domains: [],
    keys: [],
    webhooks: [],
    templates: [],
    made: [],
    nextId: (prefix) => ids[prefix](),
  };
}

function sectionNamed(name: SectionName): Section {
  const found = SECTIONS.find((section) => section.name === name);
  if (found === undefined) throw new Error(`there is no section ${name}`);
  return found;
}

const HASH_DIGITS = 32;

/**
 * Of everything that is changed, as it is and as it will be, and of all that this was judged by. Secrets are in it under
 * a key of this installation, so that nobody can guess them by it.
 */
function hashOf(
  differences: readonly Difference[],
  basis: Readonly<Record<string, string>>,
  world: World,
): string {
  const parts = differences.map((difference) => {
    const { section, present, wanted } = difference;
    const secrets = changedSecrets(difference).map((field) => [
      present?.secrets[field],
      wanted?.secrets[field],
    ]);
    return [section, (wanted ?? present)?.name, present?.fields ?? null, wanted?.fields ?? null, secrets];
  });
  return digestOf([parts, basis], world);
}

/** A digest of all that there is of each section that the differences are judged by, their own among them. */
function basisOf(differences: readonly Difference[], world: World): Record<string, string> {
  const own = new Set(differences.map(({ section }) => section));
  const all = SECTIONS.filter(
    ({ name }) => own.has(name) || [...own].some((other) => JUDGED_BY[other].includes(name)),
  );
  return Object.fromEntries(
    all.map((section) => {
      const items = section
        .present(world)
        ?.map(({ name, fields, secrets, state }) => ({ name, fields, secrets, state }));
      return [section.name, digestOf(items ?? 'in the configuration file', world)];
    }),
  );
}

function digestOf(value: unknown, { vault }: World): string {
  const key = vault.derive('waybill configuration plan');
  return createHmac('sha256', key).update(canonical(value)).digest('hex').slice(0, HASH_DIGITS);
}
