import type { ResultOf } from '../../../../src/operations/table.ts';
import { type Draft, draftOf, readDraft, sameValue } from '../settings/setting-values.ts';

/** What the form of a relay holds, and the definition that it comes to. */

/** The form of a type of relay. */
export type RelayForm = ResultOf<'relayForms'>[number];
/** One field of it. */
export type RelayFormField = RelayForm['fields'][number];
/** A definition as in the configuration file. */
export type Definition = Readonly<Record<string, unknown>>;
/** What was written into the fields, by their names. */
export type Drafts = Readonly<Record<string, Draft>>;

/** The fields that are written by hand; the secret is not among them. */
export function plainFields({ fields }: RelayForm): readonly RelayFormField[] {
  return fields.filter(({ kind }) => kind !== 'secret');
}

/** The fields of a form that hold secrets. */
export function secretFields({ fields }: RelayForm): readonly RelayFormField[] {
  return fields.filter(({ kind }) => kind === 'secret');
}

/** Secrets as they are sent: those that were filled in, by their fields; null where none was. */
export function secretsOf(form: RelayForm, drafts: Drafts): Readonly<Record<string, string>> | null {
  const given = secretFields(form).flatMap(({ name }) => {
    const draft = drafts[name];
    return typeof draft === 'string' && draft !== '' ? [[name, draft] as const] : [];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}

/** What a form begins with: what the definition says, and for the rest the defaults. No secret is filled in. */
export function draftsOf({ fields }: RelayForm, definition: Definition | null): Drafts {
  return Object.fromEntries(
    fields.map(({ name, kind, defaultValue }) => [
      name,
      draftOf({ kind, value: definition?.[name] ?? defaultValue }),
    ]),
  );
}

/** What a form comes to: a definition that leaves out what is as it would be without, and what cannot be read. */
export function definitionOf(
  form: RelayForm,
  drafts: Drafts,
): { readonly definition: Definition; readonly faults: Readonly<Record<string, string>> } {
  const definition: Record<string, unknown> = { type: form.type };
  const faults: Record<string, string> = {};
  for (const field of plainFields(form)) {
    const draft = drafts[field.name] ?? null;
    if (isEmpty(draft)) {
      if (field.required) faults[field.name] = 'This is needed.';
      continue;
    }
    const reading = readDraft({ ...field, nullable: true }, draft);
    if ('fault' in reading) faults[field.name] = reading.fault;
    else if (field.required || !sameValue(reading.value, field.defaultValue))
      definition[field.name] = reading.value;
  }
  return { definition, faults };
}

function isEmpty(draft: Draft): boolean {
  if (draft === null || draft === '') return true;
  return Array.isArray(draft) && draft.length === 0;
}

/** Whether a changed definition sends the secret elsewhere, so that the stored one is not kept. */
export function wantsSecretAnew({ fields }: RelayForm, before: Definition, after: Definition): boolean {
  return fields.some(({ name, binds }) => binds && !sameValue(before[name], after[name]));
}

/** What of a definition has changed, for people to look at before it is stored. */
export function definitionChanges(
  before: Definition,
  after: Definition,
): readonly { readonly name: string; readonly before: unknown; readonly after: unknown }[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !sameValue(before[name], after[name]))
    .map((name) => ({ name, before: before[name] ?? null, after: after[name] ?? null }));
}

/** A name for a new relay of a type that no other has. */
export function freeName(type: string, taken: readonly string[]): string {
  const first = type === 'smtp' ? 'out' : type === 'mx' ? 'direct' : type;
  if (!taken.includes(first)) return first;
  for (let number = 2; ; number++) if (!taken.includes(`${first}${number}`)) return `${first}${number}`;
}
