import type { ResultOf } from '../../../../src/operations/table.ts';
import type { LineNote } from './code-field.tsx';

/** A template while it is edited: every part of it as the text that stands in its field. */

/** A template with the texts of one of its versions. */
export type Template = ResultOf<'template'>;
/** What it says with some values. */
export type Rendered = ResultOf<'previewTemplate'>;

/** See above. */
export interface Draft {
  readonly name: string;
  readonly subject: string;
  readonly html: string;
  /** Empty: made from the HTML. */
  readonly text: string;
  /** Values to see it with, as JSON. */
  readonly sample: string;
}

/** A template's texts, to be edited. */
export function draftOf({ name, subject, html, text, sample }: Template): Draft {
  return { name, subject, html: html ?? '', text: text ?? '', sample: JSON.stringify(sample, null, 2) };
}

/** Whether two drafts would be saved as the same. */
export function isSame(one: Draft, other: Draft): boolean {
  const [first, second] = [one, other].map(({ sample, ...texts }) => {
    const read = readSample(sample);
    return JSON.stringify([texts.name.trim(), texts.subject, texts.html, texts.text, read.values ?? sample]);
  });
  return first === second;
}

/** Texts as they are asked for: what is empty is not there. */
export function textsOf({ subject, html, text }: Draft) {
  return { subject, html: html === '' ? null : html, text: text === '' ? null : text };
}

/** Values by name. */
export type Values = Readonly<Record<string, unknown>>;

/** What a sample says, or what is wrong with it. */
export type ReadSample =
  | { readonly values: Values; readonly fault: null }
  | { readonly values: null; readonly fault: LineNote };

/** Reads a sample. An empty one has no values. */
export function readSample(text: string): ReadSample {
  if (text.trim() === '') return { values: {}, fault: null };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { values: { ...value }, fault: null };
    return { values: null, fault: { line: 1, detail: 'Must be an object: { "name": "Ann" }.' } };
  } catch (error) {
    return { values: null, fault: jsonFault(text, error instanceof Error ? error.message : '') };
  }
}

/** Browsers tell of the place as a line, or as a position; where they tell of none, it is the end. */
function jsonFault(text: string, message: string): LineNote {
  const detail = `Not JSON: ${message.replace(/^JSON\.parse: |(?: in JSON)? at (?:line|position) .*$/g, '')}.`;
  const [, line] = /\bline (\d+)/.exec(message) ?? [];
  if (line !== undefined) return { line: Number(line), detail };
  const [, position] = /\bposition (\d+)/.exec(message) ?? [];
  const until = position === undefined ? text : text.slice(0, Number(position));
  return { line: until.split('\n').length, detail };
}

/** The sample with names that it lacks, each with an empty text: `order.total` stands in `order`. */
export function withNames(values: Values, names: readonly string[]): string {
  const sample: Record<string, unknown> = structuredClone({ ...values });
  for (const name of names) put(sample, name.split('.'));
  return JSON.stringify(sample, null, 2);
}

function put(into: Record<string, unknown>, [name = '', ...rest]: readonly string[]): void {
  if (name === '' || name === '__proto__') return;
  const there = Object.hasOwn(into, name) ? into[name] : undefined;
  if (rest.length === 0) into[name] = there ?? '';
  else if (isValues(there)) put(there, rest);
  else if (there === undefined || there === null || there === '') {
    const fresh: Record<string, unknown> = {};
    into[name] = fresh;
    put(fresh, rest);
  }
}

function isValues(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
