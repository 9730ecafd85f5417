import type { Form } from './escape.ts';
import { FOREIGN, ONE_URL, RAW, URLS } from './html-names.ts';

/**
 * Where in HTML a tag of a template stands: what its value must be escaped for. A small reading of the tokens of HTML
 * (WHATWG HTML §13.2.5), which is fed the text between the tags of a template, one piece after another.
 */

/** Why a tag cannot stand where it does, with what to write instead. */
export interface Misplaced {
  readonly refused: string;
}

/** The value of an attribute that holds a URL begins or ends. */
export interface UrlBound {
  /** In the text that was fed. */
  readonly at: number;
  readonly bound: 'begins' | 'ends';
}

type State =
  | 'text'
  | 'raw'
  | 'tag-open'
  | 'bang'
  | 'declaration'
  | 'comment'
  | 'tag-name'
  | 'before-attribute'
  | 'attribute-name'
  | 'after-name'
  | 'before-value'
  | 'double'
  | 'single'
  | 'unquoted'
  // After a section that ends elsewhere in a tag than it begins: what follows must be apart from it.
  | 'joined'
  | 'after-joined';

const LETTER = /[a-z]/i;
const SPACE = /[ \t\n\f\r]/;
const JSON_TYPES = /^application\/(?:ld\+)?json$/;
const CONDITION = /^\[if[^\]]*\]$/i;
/** Names and conditions are compared up to here. */
const MAX_WORD = 200;
/** States in a tag, where a section may end that began in another of them. */
const IN_TAG: ReadonlySet<State> = new Set([
  'tag-name',
  'before-attribute',
  'attribute-name',
  'after-name',
  'joined',
  'after-joined',
]);

const NO_NAME = 'A value cannot be part of the name of a tag, or of an attribute.';

/** A place in HTML, which moves on as text is fed. */
export class HtmlPlace {
  #state: State = 'text';
  /** The element whose tag this is, or whose raw content. */
  #element = '';
  /** It is an end tag. */
  #closing = false;
  #attribute = '';
  /** Counts attribute values: two of them are different places. */
  #values = 0;
  /** What has been read of a word that matters: `<!--`, a condition, an end tag in raw content, a script's type. */
  #word = '';
  /** Hyphens in a row, in a comment. */
  #hyphens = 0;
  /** The script that this tag begins holds JSON. */
  #holdsJson = false;
  /** The URL has a `?` or `#` before this. */
  #inQuery = false;
  /** This is in `<svg>` or `<math>`, where what is raw text elsewhere holds elements. */
  #foreign = false;
  #bounds: UrlBound[] = [];
  /** What is wrong with the text that was fed last; null: nothing. */
  fault: string | null = null;

  /** Moves over a text. Returns where in it URLs begin and end. */
  feed(text: string): readonly UrlBound[] {
    this.#bounds = [];
    this.fault = null;
    let at = 0;
    while (at < text.length) at = this.#step(text, at);
    return this.#bounds;
  }

  /** What a value that stands here is written as; `raw`: it is not to be escaped. */
  value(raw: boolean): Form | Misplaced {
    this.#bounds = [];
    if (this.#state === 'before-value') this.#beginValue('unquoted', 0);
    switch (this.#state) {
      case 'text':
        return raw ? 'none' : 'html';
      case 'comment':
        this.#hyphens = 0;
        this.#word += ' ';
        return raw ? 'none' : 'comment';
      case 'raw':
        if (this.#word !== '') return misplaced(NO_NAME);
        return raw ? 'none' : this.#inRawText();
      case 'double':
      case 'single':
      case 'unquoted':
        return raw ? 'none' : this.#inValue();
      case 'before-attribute':
      case 'after-name':
      case 'after-joined':
        if (!raw) return misplaced('A value cannot be an attribute; write name="{{…}}".');
        this.#state = 'joined';
        return 'none';
      default:
        return misplaced(NO_NAME);
    }
  }

  /** Where a URL began because of the last {@link value}. */
  get bounds(): readonly UrlBound[] {
    return this.#bounds;
  }

  /** As it is now. */
  copy(): HtmlPlace {
    const copy = new HtmlPlace();
    copy.#state = this.#state;
    copy.#element = this.#element;
    copy.#closing = this.#closing;
    copy.#attribute = this.#attribute;
    copy.#values = this.#values;
    copy.#word = this.#word;
    copy.#hyphens = this.#hyphens;
    copy.#holdsJson = this.#holdsJson;
    copy.#inQuery = this.#inQuery;
    copy.#foreign = this.#foreign;
    return copy;
  }

  /** Goes on after a section that began at `start` and ends here, and may be left out or repeated. Null: it may. */
  join(start: HtmlPlace): Misplaced | null {
    if (this.#key() === start.#key()) return null;
    const sameTag = this.#element === start.#element && this.#closing === start.#closing;
    if (!sameTag || !IN_TAG.has(this.#state) || !IN_TAG.has(start.#state))
      return misplaced(
        'A section must begin and end at places of the same kind: both in text, or both in the same tag or value.',
      );
    this.#state = 'joined';
    this.#holdsJson &&= start.#holdsJson;
    return null;
  }

  #key(): string {
    const inValue = ['double', 'single', 'unquoted', 'before-value'].includes(this.#state);
    const inTag = IN_TAG.has(this.#state) || inValue;
    return JSON.stringify([
      this.#state,
      this.#foreign,
      inTag || this.#state === 'raw' ? [this.#element, this.#closing, this.#holdsJson] : null,
      inTag ? this.#attribute : null,
      inValue ? this.#values : null,
      this.#state === 'comment' ? this.#hyphens : null,
      this.#wordMatters() ? this.#word : null,
    ]);
  }

  #wordMatters(): boolean {
    if (this.#state !== 'comment') return this.#state !== 'text' && this.#state !== 'declaration';
    const word = this.#word.toLowerCase();
    return word.startsWith('[if') || '[if'.startsWith(word);
  }

  #inRawText(): Form | Misplaced {
    if (this.#element === 'style') return 'style';
    if (this.#foreign) return misplaced(`A value cannot be in <${this.#element}> within <svg> or <math>.`);
    if (this.#element !== 'script') return 'html';
    return this.#holdsJson
      ? 'json'
      : misplaced('A value cannot be in a script: mail programs run none. JSON may hold values.');
  }

  #inValue(): Form | Misplaced {
    const unquoted = this.#state === 'unquoted';
    if (this.#attribute.startsWith('on') || this.#attribute === 'srcdoc')
      return misplaced(`A value cannot be in the attribute ${this.#attribute}: mail programs drop it.`);
    if (this.#inQuery) return 'query';
    if (this.#attribute !== 'style') return unquoted ? 'unquoted' : 'html';
    return unquoted ? misplaced('Put the style in quotes: style="…{{…}}…".') : 'style';
  }

  #step(text: string, at: number): number {
    switch (this.#state) {
      case 'text':
        return this.#skipTo(text, '<', at, 'tag-open');
      case 'declaration':
        return this.#skipTo(text, '>', at, 'text');
      case 'double':
        return this.#inQuotes(text, '"', at);
      case 'single':
        return this.#inQuotes(text, "'", at);
      case 'comment':
        return this.#inComment(text, at);
      case 'raw':
        return this.#inRaw(text, at);
      default:
        return this.#inTag(text.charAt(at), at);
    }
  }

  #skipTo(text: string, mark: string, at: number, then: State): number {
    const found = text.indexOf(mark, at);
    if (found < 0) return text.length;
    this.#state = then;
    this.#element = '';
    this.#closing = false;
    this.#word = '';
    return found + 1;
  }

  #inQuotes(text: string, quote: string, at: number): number {
    const found = text.indexOf(quote, at);
    const end = found < 0 ? text.length : found;
    this.#keep(text.slice(at, end));
    if (found < 0) return end;
    this.#endValue(found);
    this.#state = 'before-attribute';
    return found + 1;
  }

  /** `<!--[if mso]>` is the beginning of what one program shows: what follows is text. */
  #inComment(text: string, at: number): number {
    const char = text.charAt(at);
    if (char === '>' && (this.#hyphens >= 2 || CONDITION.test(this.#word))) this.#state = 'text';
    if (char === '-') this.#hyphens++;
    // `--!>` ends a comment, too.
    else if (char !== '!' || this.#hyphens < 2) this.#hyphens = 0;
    if (this.#word.length < MAX_WORD) this.#word += char;
    return at + 1;
  }

  #inRaw(text: string, at: number): number {
    if (this.#word === '') {
      const found = text.indexOf('<', at);
      if (found < 0) return text.length;
      this.#word = '<';
      return found + 1;
    }
    const char = text.charAt(at).toLowerCase();
    const end = `</${this.#element}`;
    if (this.#word === end && (char === '>' || char === '/' || SPACE.test(char))) {
      this.#closing = true;
      this.#attribute = '';
      this.#state = char === '>' ? 'text' : 'before-attribute';
      this.#word = '';
      return at + 1;
    }
    const word = this.#word + char;
    this.#word = this.#word !== end && end.startsWith(word) ? word : '';
    // It may begin another one.
    return this.#word === '' && char === '<' ? at : at + 1;
  }

  /** Everything between `<` and `>` but values in quotes. Returns where to go on. */
  #inTag(char: string, at: number): number {
    switch (this.#state) {
      case 'tag-open':
        return this.#open(char, at);
      case 'bang':
        return this.#bang(char, at);
      case 'before-value':
        if (SPACE.test(char)) return at + 1;
        if (char === '>') break;
        if (char === '"' || char === "'") {
          this.#beginValue(char === '"' ? 'double' : 'single', at + 1);
          return at + 1;
        }
        this.#beginValue('unquoted', at);
        return at;
      case 'unquoted':
        return this.#unquoted(char, at);
      default:
        return this.#names(char, at);
    }
    this.#endTag();
    return at + 1;
  }

  #open(char: string, at: number): number {
    if (char === '/' && !this.#closing) this.#closing = true;
    else if (LETTER.test(char)) {
      this.#state = 'tag-name';
      this.#element = '';
      this.#attribute = '';
      this.#holdsJson = false;
      return at;
    } else if (char === '!' && !this.#closing) this.#state = 'bang';
    else if (char === '?' || this.#closing) {
      this.#state = 'declaration';
      return at;
    } else {
      this.#state = 'text';
      return at;
    }
    return at + 1;
  }

  #bang(char: string, at: number): number {
    if (char !== '-') {
      this.#state = 'declaration';
      return at;
    }
    this.#word += char;
    if (this.#word === '--') {
      this.#state = 'comment';
      this.#word = '';
      // `<!-->` is a whole comment.
      this.#hyphens = 2;
    }
    return at + 1;
  }

  #unquoted(char: string, at: number): number {
    if (!SPACE.test(char) && char !== '>') {
      this.#keep(char);
      return at + 1;
    }
    this.#endValue(at);
    if (char === '>') this.#endTag();
    else this.#state = 'before-attribute';
    return at + 1;
  }

  /** Names of tags and attributes, and what is between them. */
  #names(char: string, at: number): number {
    if (char === '>') {
      this.#endTag();
      return at + 1;
    }
    if (char === '/') {
      this.#state = 'before-attribute';
      return at + 1;
    }
    if (SPACE.test(char)) {
      if (this.#state === 'tag-name') this.#state = 'before-attribute';
      else if (this.#state === 'attribute-name') this.#state = 'after-name';
      else if (this.#state === 'joined') this.#state = 'after-joined';
      return at + 1;
    }
    if (this.#state === 'joined' || (this.#state === 'after-joined' && char === '=')) {
      this.fault = 'What follows a section in a tag must be apart from it: put a space between.';
      this.#state = 'before-attribute';
    }
    if (char === '=' && (this.#state === 'attribute-name' || this.#state === 'after-name')) {
      this.#state = 'before-value';
      return at + 1;
    }
    if (this.#state === 'tag-name') this.#element = extended(this.#element, char);
    else if (this.#state === 'attribute-name') this.#attribute = extended(this.#attribute, char);
    else {
      this.#state = 'attribute-name';
      this.#attribute = extended('', char);
    }
    return at + 1;
  }

  #beginValue(state: 'double' | 'single' | 'unquoted', at: number): void {
    this.#state = state;
    this.#values++;
    this.#word = '';
    this.#inQuery = false;
    if (URLS.has(this.#attribute)) this.#bounds.push({ at, bound: 'begins' });
  }

  #endValue(at: number): void {
    if (URLS.has(this.#attribute)) this.#bounds.push({ at, bound: 'ends' });
    if (this.#attribute === 'type') this.#holdsJson = JSON_TYPES.test(this.#word.trim().toLowerCase());
    this.#word = '';
  }

  #keep(text: string): void {
    if (this.#attribute === 'type' && this.#word.length < MAX_WORD) this.#word += text.slice(0, MAX_WORD);
    if (ONE_URL.has(this.#attribute)) this.#inQuery ||= /[?#]/.test(text);
  }

  #endTag(): void {
    if (FOREIGN.has(this.#element)) this.#foreign = !this.#closing;
    this.#state = RAW.has(this.#element) && !this.#closing ? 'raw' : 'text';
    this.#word = '';
  }
}

function extended(name: string, char: string): string {
  return name.length < MAX_WORD ? name + char.toLowerCase() : name;
}

function misplaced(refused: string): Misplaced {
  return { refused };
}
