import { createHash } from 'node:crypto';
import { unknownRule } from '../../config/fault.ts';
import { isRecord } from '../../config/kinds.ts';
import { camelCase } from '../../config/schema.ts';
import type { Vault } from '../../config/secrets.ts';
import type { Difference, Fields, Item, SectionName } from '../../domain/declared.ts';
import { OperationError } from '../../operations/call.ts';
import type { MadeSecret } from '../../operations/configuring.ts';
import type { RelayView } from '../../operations/relays.ts';
import { faultLines, requestFaults } from '../../operations/request-faults.ts';
import type { Configured, KeySwap, Swap, TemplateSwap, WebhookSwap } from '../../store/configuring.ts';
import type { StoredDomain, StoredRelay } from '../../store/registry.ts';
import type { StoredTemplate } from '../../store/templates.ts';
import type { LocalDeps } from '../deps.ts';

/** What a section of a declared configuration is made of: each file here has one, or several of a kind. */

/** A section: how its items are read, and how differences become rows. */
export interface Section {
  readonly name: SectionName;
  /** The items that are there, in the order in which a file has them; null: they stand where no file can change them. */
  present(world: World): readonly Item[] | null;
  /** What else there is of it: the configuration file or the environment has it. None where this is absent. */
  elsewhere?(world: World): readonly string[];
  /** The section of a file for items, by the secrets' files. */
  written(items: readonly Item[]): unknown;
  /** The items of a file's section. */
  read(raw: unknown, reading: Reading): readonly Item[];
  /** Adds what makes a difference to what is stored. Throws `OperationError` where that may not be. */
  carryOut(difference: Difference, making: Making): void | Promise<void>;
}

/** All that is there, as the store has it at one time. */
export interface World extends Omit<Configured, 'templates'> {
  /** The same, as the store gave it: what is stored is stored only if nothing of it has changed. */
  readonly seen: Configured;
  /** Wall ms. */
  readonly now: number;
  /** Its resolution is of the same rows, or of newer ones: then nothing is stored. */
  readonly deps: LocalDeps;
  readonly vault: Vault;
  readonly relayViews: readonly RelayView[];
  readonly templates: readonly PresentTemplate[];
}

/** A template with the texts of its newest version, and of the published one. */
export interface PresentTemplate {
  readonly newest: StoredTemplate;
  readonly published: StoredTemplate | null;
}

/** A file while it is read. */
export interface Reading {
  readonly world: World;
  /** What was read so far, by sections. */
  readonly declared: ReadonlyMap<SectionName, readonly Item[]>;
  /** Items that are there and not in the file are removed. */
  readonly prune: boolean;
  /** The file's sections, as they stand in it. */
  readonly raw: Fields;
  /** The secret that a file holds; undefined: it was not there. */
  secret(file: string): string | undefined;
  fault(place: string, text: string): void;
}

/** What is to be stored, as it grows. */
export interface Making {
  readonly world: World;
  /** Only to learn whether it may be: what takes long is left out. */
  readonly isRehearsal: boolean;
  readonly relays: Swap<StoredRelay>[];
  /** Values as JSON; null: it goes. */
  readonly settings: Map<string, string | null>;
  readonly domains: Swap<StoredDomain>[];
  readonly keys: KeySwap[];
  readonly webhooks: WebhookSwap[];
  readonly templates: TemplateSwap[];
  /** Secrets that were made here, and are told once. */
  readonly made: MadeSecret[];
  /** The next id of a kind. */
  nextId(prefix: 'whe_' | 'tpl_'): string;
  /** All items of the file, by sections. */
  readonly declared: ReadonlyMap<SectionName, readonly Item[]>;
}

/** Rows as they will be. */
export function rowsAfter<Row>(
  rows: readonly Row[],
  swaps: readonly Swap<Row>[],
  idOf: (row: Row) => string,
): Row[] {
  const all = new Map(rows.map((row) => [idOf(row), row]));
  for (const { before, after } of swaps)
    if (after !== null) all.set(idOf(after), after);
    else if (before !== null) all.delete(idOf(before));
  return [...all.values()];
}

/** Most items of a section. */
const MAX_ITEMS = 2_000;

/** The secret of the file that a field names. Throws `OperationError` if it names none. */
export function secretOf(field: string, file: unknown, reading: Pick<Reading, 'secret'>): string | undefined {
  if (typeof file === 'string' && file !== '') return reading.secret(file);
  throw new OperationError('invalid', `${field}: must be the name of a file`);
}

/** Does something whose refusal is a fault of the file; null then. */
export function orFault<T>(place: string, reading: Pick<Reading, 'fault'>, act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    for (const line of error.message.split('\n')) reading.fault(place, line);
    return null;
  }
}

/** The members of a list, each with its place; what is no map is a fault. */
export function membersOf(
  raw: unknown,
  section: SectionName,
  reading: Pick<Reading, 'fault'>,
): { readonly place: string; readonly fields: Record<string, unknown> }[] {
  if (!Array.isArray(raw) || raw.length > MAX_ITEMS) {
    reading.fault(section, `must be a list of at most ${MAX_ITEMS} items`);
    return [];
  }
  return raw.flatMap((member: unknown, index) => {
    const place = `${section}[${index}]`;
    if (isRecord(member)) return [{ place, fields: { ...member } }];
    reading.fault(place, 'must be a map');
    return [];
  });
}

/** The names that a section's list gives, faulty items among them: what refers to one of these has no fault of its own. */
export function namesGiven(section: SectionName, { raw }: Pick<Reading, 'raw'>): string[] {
  const list: unknown = raw[section];
  if (!Array.isArray(list)) return [];
  return list.flatMap((member: unknown) => {
    const name = isRecord(member) ? member['name'] : null;
    return typeof name === 'string' ? [name] : [];
  });
}

/** Items without those whose name another one has before them, which is a fault. */
export function withoutNamesakes(
  items: readonly (Item & { readonly place: string })[],
  reading: Pick<Reading, 'fault'>,
): Item[] {
  const names = new Set<string>();
  return items.flatMap(({ place, ...item }) => {
    if (names.has(item.name)) {
      reading.fault(place, `${item.name} is declared twice`);
      return [];
    }
    names.add(item.name);
    return [item];
  });
}

/** A schema of zod for an object, as far as it is used here. */
interface Shape<T> {
  readonly shape: Fields;
  safeParse(
    value: unknown,
    options: { readonly reportInput: true },
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: Parameters<typeof requestFaults>[0] } };
}

/** Fields of a file, named `like_this`, by the shape of an operation, whose fields are named `likeThis`. */
export function inShape<T>(
  fields: Fields,
  shape: Shape<T>,
  place: string,
  reading: Pick<Reading, 'fault'>,
): T | null {
  const names = Object.keys(shape.shape).map(snakeCase);
  const unknown = Object.keys(fields).filter((name) => !names.includes(name));
  for (const name of unknown.slice(0, MAX_FAULTS))
    reading.fault(place, `${name}: ${unknownRule('field', name, names)}`);
  const known = Object.entries(fields).filter(([name]) => names.includes(name));
  const parsed = shape.safeParse(inCode(Object.fromEntries(known)), { reportInput: true });
  if (parsed.success) return unknown.length === 0 ? parsed.data : null;
  for (const line of faultLines(requestFaults(parsed.error.issues.slice(0, MAX_FAULTS))).split('\n'))
    reading.fault(place, line.replace(/^[A-Za-z]+/, snakeCase));
  return null;
}

/** Of one item, these are told. */
const MAX_FAULTS = 5;

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The same fields, named as in a file. */
export function inFile(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value]));
}

/** Fields of a file, named as operations name them. */
export function inCode(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelCase(name), value]));
}

/** The fields that are not as they are where nothing is said. */
export function withoutUsual(fields: Fields, usual: Fields): Fields {
  const same = (name: string, value: unknown) => JSON.stringify(value) === JSON.stringify(usual[name]);
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !same(name, value)));
}

/** Names that file systems take as they are, and tell apart whatever they think of capitals. */
const FILE_NAME = /^[a-z0-9_-]{1,64}$/;
/** Characters of other names that are left legible, and digits that tell them apart. */
const LEGIBLE = 64;
const TELLING = 12;

/** Where an export expects the file of a secret: of two names, never the same one. */
export function secretFile(section: SectionName, name: string, field: string): string {
  const legible = name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .slice(0, LEGIBLE);
  const digits = createHash('sha256').update(name).digest('hex').slice(0, TELLING);
  return `secrets/${section}/${FILE_NAME.test(name) ? name : `${legible}-${digits}`}.${field}`;
}
