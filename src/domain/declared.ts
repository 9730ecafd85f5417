/**
 * Configuration as code (docs/configuration-as-code.md): a file declares items in sections, and is compared with what
 * is there.
 */

/** The sections of a file, in the order in which they are read: later ones name items of earlier ones. */
export const SECTION_NAMES = [
  'relays',
  'delivery',
  'routes',
  'suppressions',
  'domains',
  'keys',
  'webhooks',
  'templates',
] as const;

/** See {@link SECTION_NAMES}. */
export type SectionName = (typeof SECTION_NAMES)[number];

/** Something that is declared: a relay, a key, a setting. */
export interface Item {
  /** Unique within its section. */
  readonly name: string;
  /** All that is compared, by names as in the file; JSON. */
  readonly fields: Fields;
  /** What a file says of it: without what goes without saying. */
  readonly written: Fields;
  /** Secrets by their fields: of a file those that it gives, of what is there those that are known. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What else there is of it, and no file says: a plan is of this state, too. */
  readonly state?: unknown;
}

/** Values of JSON, by names as in the file. */
export type Fields = Readonly<Record<string, unknown>>;

/** How an item of a file differs from what is there. One of the two exists. */
export interface Difference {
  readonly section: SectionName;
  readonly present: Item | null;
  readonly wanted: Item | null;
}

/** A difference as it is shown. */
export interface Change {
  readonly section: SectionName;
  readonly name: string;
  readonly action: 'add' | 'change' | 'remove';
  readonly fields: readonly FieldChange[];
}

/** A field that differs; null also stands for a value that is not there. */
interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Stands for every secret that is shown. */
const MASK = '********';

/** The differences of a section: what to add and to change as the file has it, then what the file does not have. */
export function differencesIn(
  section: SectionName,
  present: readonly Item[],
  wanted: readonly Item[],
): Difference[] {
  const there = new Map(present.map((item) => [item.name, item]));
  const declared = new Set(wanted.map(({ name }) => name));
  return [
    ...wanted
      .map((item) => ({ section, present: there.get(item.name) ?? null, wanted: item }))
      .filter((one) => one.present === null || fieldChanges(one).length > 0),
    ...present
      .filter(({ name }) => !declared.has(name))
      .map((item) => ({ section, present: item, wanted: null })),
  ];
}

/** A difference as it is shown, without secrets. */
export function changeOf(difference: Difference): Change {
  const { section, present, wanted } = difference;
  const name = (wanted ?? present)?.name ?? '';
  const action = present === null ? 'add' : wanted === null ? 'remove' : 'change';
  return { section, name, action, fields: fieldChanges(difference) };
}

function fieldChanges({ present, wanted }: Difference): FieldChange[] {
  if (present === null || wanted === null) {
    const isNew = present === null;
    const { written = {}, secrets = {} } = wanted ?? present ?? {};
    const all = { ...written, ...masked(secrets) };
    return Object.entries(all).map(([field, value]) =>
      isNew ? { field, before: null, after: value } : { field, before: value, after: null },
    );
  }
  const names = [...new Set([...Object.keys(present.fields), ...Object.keys(wanted.fields)])];
  const fields = names
    .map((field) => ({
      field,
      before: present.fields[field] ?? null,
      after: wanted.fields[field] ?? null,
    }))
    .filter(({ before, after }) => canonical(before) !== canonical(after));
  const secrets = changedSecrets({ present, wanted }).map((field) => ({
    field,
    before: present.secrets[field] === undefined ? null : MASK,
    after: MASK,
  }));
  return [...fields, ...secrets];
}

/** The secrets that a file gives, and that differ from what is there. */
export function changedSecrets({ present, wanted }: Pick<Difference, 'present' | 'wanted'>): string[] {
  return Object.entries(wanted?.secrets ?? {}).flatMap(([field, secret]) =>
    present?.secrets[field] === secret ? [] : [field],
  );
}

function masked(secrets: Fields): Fields {
  return Object.fromEntries(Object.keys(secrets).map((field) => [field, MASK]));
}

/** JSON of a value, the fields of its objects in the order of their names: the same for what is the same. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${fields.join(',')}}`;
}
