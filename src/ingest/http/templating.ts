import type { TemplateTexts, TemplateValues } from '../../domain/template.ts';
import { parseJson } from '../../http/json.ts';
import { type FieldFault, Problem, pointerToken, quote } from '../../http/problem.ts';
import { inSlices } from '../../lib/clock.ts';
import type { StoredTemplate, Templates } from '../../store/templates.ts';
import { type CompiledTemplate, compileTemplate, type Part } from '../../templates/compile.ts';
import type { TemplateFault } from '../../templates/language.ts';
import { type MissingValue, renderTemplate } from '../../templates/render.ts';
import type { FieldName, ReadFields } from './fields.ts';

/**
 * Messages of a stored template: their subject and texts are made at acceptance, so that what is stored is what is sent.
 */

/** Where templates are stored. */
export type TemplateSource = Pick<Templates, 'publishedTemplate' | 'template'>;

/** What rendering needs. */
export interface TemplatingDeps {
  readonly templates: RenderableTemplates;
}

/** Whether fields ask for a template: only then anything is awaited for it. */
export function asksForTemplate({ fields, faulty }: Pick<ReadFields, 'fields' | 'faulty'>): boolean {
  return fields.template !== null || fields.variables !== null || faulty.has('template');
}

/** Fields with what their template says. */
interface Templated extends ReadFields {
  /** The fields without its faults and its words, if it has faults: a repeat is told by them (see `makeSubmission`). */
  readonly unrendered?: ReadFields;
}

/** The fields with what their template says; its faults are among the others. */
export async function withTemplate(read: ReadFields, { templates }: TemplatingDeps): Promise<Templated> {
  const { template, variables } = read.fields;
  if (template === null) {
    if (read.faulty.has('template')) return withoutTexts(read, read.faults);
    const detail = 'Is for a template; name one in template.';
    const lost = { pointer: read.pointTo('variables'), code: 'required', detail };
    return withoutTexts(read, [...read.faults, lost]);
  }
  const given = { ...read, faults: [...read.faults, ...besideTemplate(read)] };
  const found = await templates.published(template.toLowerCase());
  if (typeof found === 'string') {
    const fault = { pointer: read.pointTo('template'), code: found, detail: WHY_NOT[found](template) };
    return refused(given, withoutTexts(given, given.faults), [fault]);
  }
  const { texts, ...wrong } = await inSlices(renderTemplate(found, variables ?? {}));
  const place = { template: read.pointTo('template'), values: read.pointTo('variables') };
  const subject = (keepsSubject(read) ? read.fields.subject : texts.subject) ?? '';
  const said = saying(given, { ...texts, subject });
  const faults = renderingFaults(wrong, place);
  if (faults.length === 0) return said;
  return refused(given, wrong.faults.length > 0 ? withoutTexts(given, given.faults) : said, faults);
}

function saying(read: ReadFields, texts: TemplateTexts): ReadFields {
  return { ...read, givenSubject: read.fields.subject, fields: { ...read.fields, ...texts } };
}

function refused(given: ReadFields, said: ReadFields, faults: readonly FieldFault[]): Templated {
  const unrendered = saying(given, { subject: '', html: null, text: '' });
  return { ...said, faults: [...given.faults, ...faults], unrendered };
}

const WHY_NOT = {
  template_not_found: (which: string) => `There is no template ${quote(which)}.`,
  template_not_published: (which: string) => `No version of the template ${quote(which)} is published.`,
};

/** Where a client has the template and its values. */
interface TemplatePlaces {
  readonly template: string;
  readonly values: string;
}

/** What is wrong with values, or with what becomes of them. */
function renderingFaults(
  {
    faults,
    missing,
  }: { readonly faults: readonly TemplateFault[]; readonly missing: readonly MissingValue[] },
  { template, values }: TemplatePlaces,
): FieldFault[] {
  const within = (keys: readonly string[]) => values + keys.map((key) => `/${pointerToken(key)}`).join('');
  const found = [
    ...missing.map(({ name, value, field, line }) => {
      const detail = `The template needs a value for "${name}" (${field}, line ${line}).`;
      return { pointer: within(value), code: 'required', detail };
    }),
    ...faults.map(({ field, line, code, detail, value }) => {
      const pointer = value === null ? template : within(value);
      return { pointer, code, detail: `${detail} (${field}, line ${line})` };
    }),
  ];
  // A value that is wrong in several texts is told of once.
  return [...new Map(found.toReversed().map((fault) => [fault.pointer, fault])).values()].toReversed();
}

const TEXTS: readonly (keyof TemplateTexts & FieldName)[] = ['subject', 'text', 'html'];

/** A template says all that the message says. */
function besideTemplate(read: ReadFields): FieldFault[] {
  const { fields, pointTo } = read;
  const given = TEXTS.filter(
    (field) => fields[field] !== null && fields[field] !== '' && !(field === 'subject' && keepsSubject(read)),
  );
  const detail = 'Comes from the template; leave it out.';
  // Some providers have all texts in one field.
  const pointers = new Set(given.map((field) => pointTo(field)));
  return [...pointers].map((pointer) => ({ pointer, code: 'not_supported', detail }));
}

function keepsSubject({ fields, ownSubject }: ReadFields): boolean {
  return ownSubject === true && fields.subject !== '';
}

/** That there are no texts is told by the template's own faults. */
function withoutTexts(read: ReadFields, faults: readonly FieldFault[]): ReadFields {
  return { ...read, faults, faulty: new Set([...read.faulty, ...TEXTS]) };
}

/** A cache of templates that have been read: so many, of so many characters together. */
const MAX_CACHED = 500;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** What a part takes beside its characters, counted in these. */
const PART = 130;

/** Published templates, each version read once. */
export class RenderableTemplates {
  readonly #source: TemplateSource;
  readonly #cached = new Map<string, { readonly template: CompiledTemplate; readonly characters: number }>();
  #characters = 0;

  constructor(source: TemplateSource) {
    this.#source = source;
  }

  /** Templates in the cache, and their characters. */
  get cached(): { readonly templates: number; readonly characters: number } {
    return { templates: this.#cached.size, characters: this.#characters };
  }

  /** The published version of a template, by its alias or id. */
  async published(which: string): Promise<CompiledTemplate | keyof typeof WHY_NOT> {
    // A version that was published may be removed once another one is.
    return (await this.#published(which)) ?? (await this.#published(which)) ?? 'template_not_found';
  }

  /** Null: the version is gone that was published a moment ago. */
  async #published(which: string): Promise<CompiledTemplate | keyof typeof WHY_NOT | null> {
    const found = await this.#source.publishedTemplate(which);
    if (found === null) return 'template_not_found';
    const { id, version } = found;
    if (version === null) return 'template_not_published';
    const key = `${id} ${version}`;
    const cached = this.#cached.get(key);
    if (cached !== undefined) return cached.template;
    const stored = await this.#source.template(id, version);
    if (stored === null) return null;
    const { template } = compileTemplate(stored);
    this.#keep(key, template, stored);
    return template;
  }

  #keep(key: string, template: CompiledTemplate, { subject, html, text }: StoredTemplate): void {
    if (this.#cached.has(key)) return;
    const parts = [template.subject, template.html, template.text].map((one) => partsIn(one ?? []));
    const written = subject.length + (html?.length ?? 0) + (text?.length ?? 0);
    const characters = written + PART * parts.reduce((all, some) => all + some, 0);
    this.#cached.set(key, { template, characters });
    this.#characters += characters;
    for (const [oldest, { characters: freed }] of this.#cached) {
      if (this.#cached.size <= MAX_CACHED && this.#characters <= MAX_CHARACTERS) return;
      this.#cached.delete(oldest);
      this.#characters -= freed;
    }
  }
}

function partsIn(parts: readonly Part[]): number {
  return parts.reduce((all, part) => all + ('parts' in part ? partsIn(part.parts) : 0), parts.length);
}

/** As of a whole body; a text of values is part of one. */
const LIMITS = { maxDepth: 32, maxValues: 100_000 };

/** Values that are given as JSON in a text, or what is wrong with it. */
export function valuesIn(text: string): { readonly values: TemplateValues } | Omit<FieldFault, 'pointer'> {
  const detail = 'Must be a JSON object, as a text, with a value for each name in the template.';
  try {
    const value = parseJson(Buffer.from(text), LIMITS);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { values: { ...value } } : { code: 'type', detail };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.code === 'malformed_json' ? { code: 'type', detail } : error;
  }
}

/** Values in one order, so that notation makes no difference where repeats are compared. */
export function sortedValues(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortedValues);
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([name, inner]) => [name, sortedValues(inner)]);
}
