/**
 * CSS as the rules see it: its declarations and at-rules, in one pass (after CSS Syntax Level 3 §5, as far as errors go:
 * what cannot be read is passed over to the next semicolon or brace). Selectors are not looked at.
 */

/** A declaration, or an at-rule. */
export interface CssItem {
  /** A property in lower case, such as `display`, or an at-rule, such as `@import`. */
  readonly name: string;
  /** The value, or the at-rule's prelude, in lower case; without comments and strings. */
  readonly value: string;
  /** Lines before it in its text. */
  readonly line: number;
  /** It is in an at-rule, such as `@media`, that not every client knows or applies. */
  readonly isConditional: boolean;
}

/** Items that are read of one text. */
export const MAX_ITEMS = 20_000;
/** Levels of blocks. */
const MAX_BLOCKS = 100;
/** Characters of a value that are kept. */
const MAX_VALUE = 2_000;
const BLANK = /^\s*$/;
const IMPORTANT = '!important';

/** What a style sheet has; the value of a `style` attribute is read as if it were within a rule. */
export function readCss(text: string, where: 'sheet' | 'attribute'): CssItem[] {
  return new CssReader(text, where === 'attribute').read();
}

class CssReader {
  readonly #text: string;
  readonly #inAttribute: boolean;
  readonly #items: CssItem[] = [];
  /** Whether each block that is open is an at-rule's, the outermost first. */
  readonly #blocks: boolean[] = [];
  /** What has been read since the last semicolon or brace, and where it began. */
  #run = '';
  #line = 0;
  #runLine = 0;

  constructor(text: string, inAttribute: boolean) {
    this.#text = text;
    this.#inAttribute = inAttribute;
  }

  read(): CssItem[] {
    const text = this.#text;
    let parentheses = 0;
    for (let at = 0; at < text.length && this.#items.length < MAX_ITEMS; ) {
      const char = text[at] ?? '';
      const next = this.#skipped(char, at);
      if (next > at) {
        at = next;
        continue;
      }
      at++;
      if (char === '\n') this.#line++;
      if (char === '(') parentheses++;
      else if (char === ')') parentheses = Math.max(0, parentheses - 1);
      if (char === '{' || char === '}' || (char === ';' && parentheses === 0)) {
        parentheses = 0;
        this.#endRun(char);
      } else this.#add(char);
    }
    this.#endRun(';');
    return this.#items;
  }

  /** The position after a comment, a string or an escape that begins here; the same position if none does. */
  #skipped(char: string, at: number): number {
    const text = this.#text;
    if (char === '\\') {
      this.#add(text.slice(at, at + 2));
      return at + 2;
    }
    const isComment = char === '/' && text[at + 1] === '*';
    if (!isComment && char !== '"' && char !== "'") return at;
    const found = isComment ? text.indexOf('*/', at + 2) : stringEnd(text, at);
    const end = found < 0 ? text.length : found + (isComment ? 2 : 1);
    for (let place = at; place < end; place++) if (text[place] === '\n') this.#line++;
    if (!isComment) this.#add('""');
    return end;
  }

  #add(piece: string): void {
    if (this.#run === '') {
      if (BLANK.test(piece)) return;
      this.#runLine = this.#line;
    }
    if (this.#run.length < MAX_VALUE) this.#run += piece;
  }

  #endRun(end: '{' | '}' | ';'): void {
    const run = this.#run.trim();
    this.#run = '';
    const isAtRule = run.startsWith('@');
    if (isAtRule) {
      const [name = ''] = run.split(/[\s("]/, 1);
      this.#keep(name.toLowerCase(), run.slice(name.length));
    } else if (end !== '{' && (this.#inAttribute || this.#blocks.length > 0)) {
      const colon = run.indexOf(':');
      if (colon > 0) this.#keep(run.slice(0, colon).trim().toLowerCase(), run.slice(colon + 1));
    }
    if (end === '{' && this.#blocks.length < MAX_BLOCKS) this.#blocks.push(isAtRule);
    else if (end === '}') this.#blocks.pop();
  }

  #keep(name: string, value: string): void {
    const isConditional = this.#blocks.includes(true);
    this.#items.push({ name, value: value.trim().toLowerCase(), line: this.#runLine, isConditional });
  }
}

/** A value without its `!important`, in lower case. */
export function withoutImportant(value: string): string {
  return value.endsWith(IMPORTANT) ? value.slice(0, -IMPORTANT.length).trimEnd() : value;
}

/** The position of the quote that ends the string at `start`, or of the line end that breaks it off; -1 without one. */
function stringEnd(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote || text[at] === '\n') return at;
  }
  return -1;
}
