import type { TemplateTexts } from '../domain/template.ts';
import type { Form } from './escape.ts';
import { HtmlPlace, type Misplaced, type UrlBound } from './html-place.ts';
import { type Field, MAX_DEPTH, MAX_FAULTS, type TemplateFault } from './language.ts';
import { cut, type Piece, type TagFault } from './tags.ts';

/** Reads a template once, so that it can be rendered often. */

/** A template that has been read. A text is null where there is none, or where it has faults. */
export interface CompiledTemplate extends Readonly<Record<Field, readonly Part[] | null>> {
  /** There is no text: it is made from the HTML. */
  readonly textOfHtml: boolean;
}

/** A part of a text. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly name: Name; readonly form: Form; readonly line: number }
  | {
      readonly kind: 'section';
      readonly name: Name;
      /** It is shown where there is nothing. */
      readonly inverted: boolean;
      readonly parts: readonly Part[];
      readonly line: number;
    }
  /** A URL, which must not run a program. */
  | { readonly kind: 'url'; readonly parts: readonly Part[]; readonly line: number };

/** A name, and its parts; none: the value that a section is about. */
export interface Name {
  readonly written: string;
  readonly keys: readonly string[];
}

/** The texts of a template that has been read, and what is wrong: then those texts are null. */
export interface Compilation {
  readonly template: CompiledTemplate;
  readonly faults: readonly TemplateFault[];
}

/** Reads the texts of a template. */
export function compileTemplate({ subject, html, text }: TemplateTexts): Compilation {
  const faults: TemplateFault[] = [];
  const compiled = (field: Field, source: string | null) => {
    if (source === null) return null;
    const reading = new Reading(field);
    const parts = reading.read(source);
    faults.push(...reading.faults);
    return reading.faults.length > 0 ? null : parts;
  };
  const template = {
    subject: compiled('subject', subject),
    html: compiled('html', html),
    text: compiled('text', text),
    textOfHtml: text === null,
  };
  return { template, faults: faults.slice(0, MAX_FAULTS) };
}

/** A section that is open, or a URL, or the whole. */
interface Open {
  readonly kind: 'whole' | 'section' | 'url';
  readonly parts: Part[];
  readonly name: Name;
  readonly inverted: boolean;
  readonly line: number;
  readonly start: HtmlPlace | null;
}

const NO_NAME: Name = { written: '', keys: [] };

/** Reads one text. */
class Reading {
  readonly faults: TemplateFault[] = [];
  readonly #field: Field;
  /** Null: the text is not HTML. */
  readonly #place: HtmlPlace | null;
  readonly #whole: Open;
  readonly #open: Open[] = [];

  constructor(field: Field) {
    this.#field = field;
    this.#place = field === 'html' ? new HtmlPlace() : null;
    this.#whole = { kind: 'whole', parts: [], name: NO_NAME, inverted: false, line: 1, start: null };
  }

  read(source: string): readonly Part[] {
    const { pieces, fault } = cut(source);
    for (const piece of pieces) if (this.faults.length < MAX_FAULTS) this.#take(piece);
    if (fault !== null) this.#tell(fault);
    const left = this.#open.at(-1);
    if (left !== undefined && fault === null) {
      const detail =
        left.kind === 'url'
          ? 'The value of the attribute has no end.'
          : `The section has no end: {{/${left.name.written}}}.`;
      this.#misplaced(left.line, detail);
    }
    return this.#whole.parts;
  }

  get #parts(): Part[] {
    return (this.#open.at(-1) ?? this.#whole).parts;
  }

  #take(piece: Piece): void {
    switch (piece.kind) {
      case 'text':
        this.#text(piece.text, piece.line);
        break;
      case 'value':
      case 'raw':
        this.#value(piece.name, piece.kind === 'raw', piece.line);
        break;
      case 'end':
        this.#end(piece.name, piece.line);
        break;
      default:
        this.#begin(piece.name, piece.kind === 'inverted', piece.line);
    }
  }

  #text(text: string, line: number): void {
    let from = 0;
    for (const { at, bound } of this.#place?.feed(text) ?? []) {
      this.#add(text.slice(from, at));
      this.#bound(bound, line);
      from = at;
    }
    this.#add(text.slice(from));
    const fault = this.#place?.fault ?? null;
    if (fault !== null) this.#misplaced(line, fault);
  }

  #bound(bound: UrlBound['bound'], line: number): void {
    if (bound === 'begins') {
      this.#open.push({ kind: 'url', parts: [], name: NO_NAME, inverted: false, line, start: null });
      return;
    }
    // A section that began in it and is not ended is told where it ends.
    if (this.#open.at(-1)?.kind !== 'url') return;
    const url = this.#open.pop();
    if (url === undefined) return;
    if (url.parts.every(({ kind }) => kind === 'text')) for (const part of url.parts) this.#addPart(part);
    else this.#parts.push({ kind: 'url', parts: url.parts, line: url.line });
  }

  #add(text: string): void {
    if (text !== '') this.#addPart({ kind: 'text', text });
  }

  #addPart(part: Part): void {
    const last = this.#parts.at(-1);
    if (part.kind === 'text' && last?.kind === 'text')
      this.#parts[this.#parts.length - 1] = { kind: 'text', text: last.text + part.text };
    else this.#parts.push(part);
  }

  #value(written: string, raw: boolean, line: number): void {
    const form = this.#formHere(raw);
    for (const { bound } of this.#place?.bounds ?? []) this.#bound(bound, line);
    if (typeof form === 'string') this.#parts.push({ kind: 'value', name: nameOf(written), form, line });
    else this.#misplaced(line, form.refused);
  }

  #formHere(raw: boolean): Form | Misplaced {
    if (this.#place !== null) return this.#place.value(raw);
    return this.#field === 'subject' ? 'line' : 'none';
  }

  #begin(written: string, inverted: boolean, line: number): void {
    const depth = this.#open.filter(({ kind }) => kind === 'section').length;
    if (depth >= MAX_DEPTH)
      this.#tell({ line, code: 'template_limit', detail: `Sections may be nested ${MAX_DEPTH} deep.` });
    const start = this.#place?.copy() ?? null;
    this.#open.push({ kind: 'section', parts: [], name: nameOf(written), inverted, line, start });
  }

  #end(written: string, line: number): void {
    // What is open inside of it was told, or is told by its place.
    const found = this.#open.findLastIndex(({ kind }) => kind === 'section');
    const section = this.#open[found];
    if (section === undefined) {
      this.#misplaced(line, `There is no section {{#${written}}} to end.`);
      return;
    }
    this.#open.length = found;
    const { name, inverted, start, parts } = section;
    if (name.written !== written)
      this.#misplaced(
        line,
        `The section {{#${name.written}}} of line ${section.line} ends before {{/${written}}}.`,
      );
    const misplaced = start === null ? null : (this.#place?.join(start) ?? null);
    if (misplaced !== null) this.#misplaced(line, misplaced.refused);
    this.#parts.push({ kind: 'section', name, inverted, parts, line: section.line });
  }

  #misplaced(line: number, detail: string): void {
    this.#tell({ line, code: 'template_place', detail });
  }

  #tell({ line, code, detail }: TagFault): void {
    if (this.faults.length < MAX_FAULTS)
      this.faults.push({ field: this.#field, line, code, detail, value: null });
  }
}

function nameOf(written: string): Name {
  return { written, keys: written === '.' ? [] : written.split('.') };
}
