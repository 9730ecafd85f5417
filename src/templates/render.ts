import type { TemplateTexts, TemplateValues } from '../domain/template.ts';
import type { Sliced } from '../lib/clock.ts';
import { textOfHtml } from '../mail/html-text.ts';
import type { CompiledTemplate, Name, Part } from './compile.ts';
import { urlRefusal, written } from './escape.ts';
import { type Field, MAX_FAULTS, MAX_OUTPUT, MAX_STEPS, type TemplateFault } from './language.ts';

/** Renders a template that has been read, with values. */

/** What became of a template. */
export interface Rendered {
  /** A text with a fault, and one that the template does not have, is null; text is made from HTML that says something. */
  readonly texts: Readonly<Record<Field, string | null>>;
  readonly faults: readonly TemplateFault[];
  readonly missing: readonly MissingValue[];
}

/** A name without a value: its tag stays in the text. */
export interface MissingValue {
  /** As it is written. */
  readonly name: string;
  /** The keys that would lead to it. */
  readonly value: readonly string[];
  readonly field: Field;
  readonly line: number;
}

/** The bounds of one rendering. */
export interface Bounds {
  /** Characters of all texts together. */
  readonly maxOutput: number;
  /** Parts and repetitions processed. */
  readonly maxSteps: number;
}

const BOUNDS: Bounds = { maxOutput: MAX_OUTPUT, maxSteps: MAX_STEPS };
const FIELDS: readonly (keyof TemplateTexts)[] = ['subject', 'html', 'text'];

/** Work to do before other work may run, a few milliseconds: characters written, and what each part costs in these. */
const SLICE_CHARACTERS = 64 * 1024;
const PART_CHARACTERS = 64;

/** Renders a template. Never throws, whatever the values are: they are JSON. */
export function* renderTemplate(
  template: CompiledTemplate,
  values: TemplateValues,
  bounds: Bounds = BOUNDS,
): Sliced<Rendered> {
  const spent = { characters: 0, steps: 0 };
  const faults: TemplateFault[] = [];
  const missing: MissingValue[] = [];
  const texts: Record<Field, string | null> = { subject: null, html: null, text: null };
  for (const field of FIELDS) {
    const parts = template[field];
    if (parts === null) continue;
    const writing = new Writing(field, bounds, spent);
    const text = yield* writing.render(parts, values);
    faults.push(...writing.faults);
    missing.push(...writing.missing);
    if (writing.faults.length === 0) texts[field] = text;
  }
  if (template.textOfHtml && texts.html !== null) texts.text = (yield* textOfHtml(texts.html)) || null;
  return { texts, faults: faults.slice(0, MAX_FAULTS), missing: missing.slice(0, MAX_FAULTS) };
}

/** A value that a section is about. */
interface Scope {
  readonly value: unknown;
  readonly place: Place;
}

/** Where a value is among all values: its key, and where that is. Null: it is all of them. */
type Place = { readonly above: Place; readonly key: string } | null;

/** A value that was found. */
interface Found {
  readonly value: unknown;
  readonly place: Place;
}

/** Ends the rendering of a text. */
class OutOfBounds extends Error {}

/** Renders one text. */
class Writing {
  readonly faults: TemplateFault[] = [];
  readonly missing: MissingValue[] = [];
  readonly #field: Field;
  readonly #bounds: Bounds;
  readonly #spent: { characters: number; steps: number };
  readonly #scopes: Scope[] = [];
  #out = '';
  /** What was spent where the slice began. */
  #sliceBegan = 0;

  constructor(field: Field, bounds: Bounds, spent: { characters: number; steps: number }) {
    this.#field = field;
    this.#bounds = bounds;
    this.#spent = spent;
  }

  *render(parts: readonly Part[], values: TemplateValues): Sliced<string> {
    this.#scopes.push({ value: values, place: null });
    try {
      yield* this.#parts(parts, 1);
    } catch (error) {
      if (!(error instanceof OutOfBounds)) throw error;
    }
    return this.#out;
  }

  *#parts(parts: readonly Part[], above: number): Sliced<void> {
    for (const part of parts) {
      if (this.#isTurnOver()) yield;
      const line = part.kind === 'text' ? above : part.line;
      this.#step(line);
      switch (part.kind) {
        case 'text':
          this.#add(part.text, line);
          break;
        case 'value':
          this.#value(part);
          break;
        case 'section':
          yield* this.#section(part);
          break;
        case 'url':
          yield* this.#url(part);
          break;
      }
    }
  }

  #value({ name, form, line }: Part & { kind: 'value' }): void {
    const { value, place } = this.#find(name);
    if (value === undefined || value === null) {
      this.#lacks(name, place, line);
      this.#add(`{{${name.written}}}`, line);
      return;
    }
    if (typeof value === 'object') {
      const detail = Array.isArray(value)
        ? `"${name.written}" is a list; write {{#${name.written}}}{{.}}{{/${name.written}}}.`
        : `"${name.written}" is an object; name what is in it, as in {{${name.written}.name}}.`;
      this.#tell(line, detail, place);
      return;
    }
    const plain = String(value);
    // No form makes it shorter: what is too long is not escaped first.
    this.#fit(plain.length, line);
    const text = written(plain, form);
    if ('text' in text) this.#add(text.text, line);
    else this.#tell(line, `"${name.written}": ${text.refused}`, place);
  }

  *#section({ name, inverted, parts, line }: Part & { kind: 'section' }): Sliced<void> {
    const { value, place } = this.#find(name);
    const isThere = Array.isArray(value) ? value.length > 0 : Boolean(value);
    if (isThere === inverted) return;
    if (inverted) yield* this.#parts(parts, line);
    else if (!Array.isArray(value)) yield* this.#inside({ value, place }, parts, line);
    else
      for (const [at, item] of value.entries()) {
        this.#step(line);
        yield* this.#inside({ value: item, place: { above: place, key: String(at) } }, parts, line);
      }
  }

  *#inside(scope: Scope, parts: readonly Part[], line: number): Sliced<void> {
    this.#scopes.push(scope);
    yield* this.#parts(parts, line);
    this.#scopes.pop();
  }

  *#url({ parts, line }: Part & { kind: 'url' }): Sliced<void> {
    const before = this.#out;
    this.#out = '';
    yield* this.#parts(parts, line);
    const refusal = urlRefusal(this.#out);
    this.#out = before + this.#out;
    if (refusal === null) return;
    const first = parts.find((part) => part.kind === 'value');
    this.#tell(first?.line ?? line, refusal, first === undefined ? null : this.#find(first.name).place);
  }

  /** The value of a name, in the innermost section whose value has its beginning; undefined where there is none. */
  #find({ keys }: Name): Found {
    const innermost = this.#scopes.at(-1);
    const [first, ...others] = keys;
    if (innermost === undefined || first === undefined)
      return { value: innermost?.value, place: innermost?.place ?? null };
    const scope = this.#scopes.findLast(({ value }) => member(value, first) !== undefined) ?? innermost;
    let value = member(scope.value, first);
    let place: Place = { above: scope.place, key: first };
    for (const key of others) {
      value = member(value, key);
      place = { above: place, key };
    }
    return { value, place };
  }

  #lacks({ written: name }: Name, place: Place, line: number): void {
    if (this.missing.length >= MAX_FAULTS) return;
    const value = keysOf(place);
    const isTold = this.missing.some((other) => other.value.join('\0') === value.join('\0'));
    if (!isTold) this.missing.push({ name, value, field: this.#field, line });
  }

  #add(text: string, line: number): void {
    this.#fit(text.length, line);
    this.#spent.characters += text.length;
    this.#out += text;
  }

  #fit(characters: number, line: number): void {
    if (this.#spent.characters + characters > this.#bounds.maxOutput)
      this.#end(line, `All texts together may become ${this.#bounds.maxOutput} characters long.`);
  }

  #step(line: number): void {
    if (++this.#spent.steps > this.#bounds.maxSteps)
      this.#end(line, `There is too much to repeat: at most ${this.#bounds.maxSteps} parts.`);
  }

  #isTurnOver(): boolean {
    const spent = this.#spent.characters + PART_CHARACTERS * this.#spent.steps;
    if (spent - this.#sliceBegan < SLICE_CHARACTERS) return false;
    this.#sliceBegan = spent;
    return true;
  }

  #end(line: number, detail: string): never {
    this.faults.push({ field: this.#field, line, code: 'template_limit', detail, value: null });
    throw new OutOfBounds();
  }

  #tell(line: number, detail: string, place: Place): void {
    if (this.faults.length >= MAX_FAULTS) return;
    this.faults.push({ field: this.#field, line, code: 'template_value', detail, value: keysOf(place) });
  }
}

/** A member of an object, or of a list by its place. Nothing that is inherited. */
function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  if (Array.isArray(value) && !/^\d{1,9}$/.test(key)) return undefined;
  return Reflect.get(value, key);
}

function keysOf(place: Place): readonly string[] {
  const keys: string[] = [];
  for (let at = place; at !== null; at = at.above) keys.unshift(at.key);
  return keys;
}
