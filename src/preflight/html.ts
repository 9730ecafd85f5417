import { Parser } from 'htmlparser2';

/**
 * HTML as the rules see it: its elements and its text, flat and in order, each with its line. A library reads it, tag by
 * tag and in one pass, as forgiving as mail clients are; no tree is built, so that nothing hostile grows beyond the limits.
 */

/** Characters that are read. */
export const MAX_HTML = 2 * 1024 * 1024;
/** Elements that are read. */
export const MAX_ELEMENTS = 50_000;
/** Levels of elements; deeper ones end the reading. */
export const MAX_DEPTH = 500;
/** Limits are looked at after so many characters. */
const PIECE = 4096;

/** An element. */
export interface Element {
  /** In lower case. */
  readonly name: string;
  /** By names in lower case, entities decoded. */
  readonly attributes: Readonly<Record<string, string>>;
  /** From 1. */
  readonly line: number;
  readonly parent: Element | null;
  /** What its text stands in: itself, or the innermost element around it that ends a line; null where there is none. */
  readonly block: Element | null;
  /** The link that it is, or is in. */
  readonly link: Element | null;
  /** Readers see its text, or a screen reader reads it: it is in no style sheet, title or script. */
  readonly isShown: boolean;
  /** It is code that is shown: `code`, `pre`, `kbd`, `samp`. */
  readonly isCode: boolean;
}

/** Text between two tags. */
export interface Text {
  /** Entities decoded, blanks as they are. */
  readonly text: string;
  readonly line: number;
  readonly parent: Element | null;
}

/** A part of text/html that was read. */
export interface Html {
  readonly elements: readonly Element[];
  /** All text, that of style sheets too; see {@link shownTexts}. */
  readonly texts: readonly Text[];
  /** Why it was not read to its end; null if it was. */
  readonly cut: 'length' | 'elements' | 'depth' | null;
}

/** Reads HTML. Never throws. */
export function readHtml(source: string): Html {
  const reader = new Reader();
  const parser = new Parser(reader, { lowerCaseTags: true, lowerCaseAttributeNames: true });
  const end = Math.min(source.length, MAX_HTML);
  reader.positionOf = () => parser.startIndex;
  let at = 0;
  for (; at < end && reader.full === null; at += PIECE) {
    const piece = source.slice(at, Math.min(end, at + PIECE));
    reader.lines.add(piece);
    parser.write(piece);
  }
  if (reader.full === null) parser.end();
  const cut = reader.full ?? (source.length > MAX_HTML ? 'length' : null);
  return { elements: reader.elements, texts: reader.texts, cut };
}

/** Finds the line of a position; positions come in order. */
class Lines {
  readonly #starts: number[] = [0];
  #length = 0;
  #line = 0;

  add(piece: string): void {
    for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', at + 1))
      this.#starts.push(this.#length + at + 1);
    this.#length += piece.length;
  }

  lineOf(position: number): number {
    while (this.#line > 0 && (this.#starts[this.#line] ?? 0) > position) this.#line--;
    while ((this.#starts[this.#line + 1] ?? Number.POSITIVE_INFINITY) <= position) this.#line++;
    return this.#line + 1;
  }
}

/** Elements whose text no client shows as text. */
const UNSHOWN: ReadonlySet<string> = new Set(['style', 'script', 'title', 'head', 'template', 'noscript']);
const CODE: ReadonlySet<string> = new Set(['code', 'pre', 'kbd', 'samp']);

class Reader {
  readonly elements: Element[] = [];
  readonly texts: Text[] = [];
  readonly lines = new Lines();
  full: Html['cut'] = null;
  positionOf: () => number = () => 0;
  #open: Element | null = null;
  #depth = 0;
  #text = { line: 1, pieces: [] as string[] };

  onopentag(name: string, attributes: Record<string, string>): void {
    this.#endText();
    if (this.full !== null) return;
    const line = this.lines.lineOf(this.positionOf());
    const parent = this.#open;
    const element: Writable<Element> = {
      name,
      attributes,
      line,
      parent,
      block: parent?.block ?? null,
      link: parent?.link ?? null,
      isShown: (parent?.isShown ?? true) && !UNSHOWN.has(name),
      isCode: (parent?.isCode ?? false) || CODE.has(name),
    };
    if (!INLINE.has(name)) element.block = element;
    if (name === 'a') element.link = element;
    this.elements.push(element);
    this.#open = element;
    this.#depth++;
    if (name === 'br') this.texts.push({ text: '\n', line, parent: element });
    if (this.elements.length >= MAX_ELEMENTS) this.full = 'elements';
    else if (this.#depth >= MAX_DEPTH) this.full = 'depth';
  }

  onclosetag(): void {
    this.#endText();
    this.#open = this.#open?.parent ?? null;
    this.#depth = Math.max(0, this.#depth - 1);
  }

  ontext(piece: string): void {
    if (this.full !== null) return;
    if (this.#text.pieces.length === 0) this.#text.line = this.lines.lineOf(this.positionOf());
    this.#text.pieces.push(piece);
  }

  oncomment(): void {
    this.#endText();
  }

  onend(): void {
    this.#endText();
  }

  #endText(): void {
    if (this.#text.pieces.length === 0) return;
    const { line, pieces } = this.#text;
    this.texts.push({ text: pieces.join(''), line, parent: this.#open });
    this.#text = { line: 1, pieces: [] };
  }
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** The texts that readers see, or have read to them. */
export function shownTexts({ texts }: Html): Text[] {
  return texts.filter(({ parent }) => parent === null || parent.isShown);
}

/** Text that stands together: that of a paragraph, a cell, a heading, whatever is set apart in it. */
export interface Block {
  /** A line for each line break (`br`); code is one character, U+FFFC. */
  readonly text: string;
  /** The line in the HTML of a place in the text. */
  readonly lineAt: (place: number) => number;
}

/** Elements that do not end a line. */
// biome-ignore format: a list
const INLINE: ReadonlySet<string> = new Set([
  'a', 'abbr', 'b', 'bdi', 'big', 'cite', 'code', 'del', 'em', 'font', 'i', 'ins', 'kbd', 'mark', 'q', 's', 'samp', 'small',
  'span', 'strike', 'strong', 'sub', 'sup', 'tt', 'u', 'var', 'br', 'img', 'wbr',
]);
const CODE_SIGN = '\ufffc';

/** What readers see, block by block. */
export function shownBlocks(html: Html): Block[] {
  const blocks: Block[] = [];
  let owner: Element | null = null;
  let pieces: Piece[] = [];
  const end = () => {
    if (pieces.length > 0) blocks.push(blockOf(pieces));
    pieces = [];
  };
  for (const { text, line, parent } of shownTexts(html)) {
    const block = parent?.block ?? null;
    if (block !== owner) end();
    owner = block;
    const isBreak = parent?.name === 'br';
    // In HTML the end of a line is a blank like any other.
    const shown = isBreak ? '\n' : parent?.isCode ? CODE_SIGN : text.replace(/[\r\n\t]/g, ' ');
    pieces.push({ shown, source: isBreak || parent?.isCode ? '' : text, line });
  }
  end();
  return blocks;
}

interface Piece {
  readonly shown: string;
  readonly source: string;
  readonly line: number;
}

function blockOf(pieces: readonly Piece[]): Block {
  // Where the last answer was found: places mostly come in order, and each is not to be counted from the beginning.
  const begin = { place: 0, piece: 0, start: 0, breaks: 0 };
  let at = begin;
  const lineAt = (place: number): number => {
    if (place < at.place) at = begin;
    let { place: counted, piece, start, breaks } = at;
    for (let current = pieces[piece]; current !== undefined; current = pieces[piece]) {
      const end = start + current.shown.length;
      for (; counted < Math.min(place, end); counted++)
        if (current.source[counted - start] === '\n') breaks++;
      if (place < end) {
        at = { place, piece, start, breaks };
        return current.line + breaks;
      }
      piece++;
      start = end;
      breaks = 0;
    }
    return pieces.at(-1)?.line ?? 1;
  };
  return { text: pieces.map(({ shown }) => shown).join(''), lineAt };
}

/** Text as one line: runs of blanks are one. */
export function oneBlank(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
