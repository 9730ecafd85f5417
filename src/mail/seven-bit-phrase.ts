/** Structured fields in ASCII: names and comments become encoded words, and an address must have none but in its domain. */
import { parseDomain } from '../domain/domain-name.ts';

const NON_ASCII = /[^\0-\x7f]/;
const SEPARATOR = /[,;:]/;
const BLANK = /[\t ]/;
/** What an address literal is made of; it is short. */
const LITERAL = /\[[0-9A-Za-z.:]{1,64}\]/y;
const SPECIAL = /[\t "(<,;:]/;

interface Token {
  readonly kind: 'blank' | 'atom' | 'quoted' | 'comment' | 'angle' | 'separator';
  /** As it stands, with its quotes, parentheses or angle brackets. */
  readonly raw: string;
}

/**
 * The words of a list of addresses, or of what is written like one. Null where an address needs more than ASCII, or a
 * quote, comment or bracket is never closed.
 */
export function asciiPhrases(value: string, encode: (text: string) => string[]): string[] | null {
  const tokens = tokenize(value);
  if (tokens === null) return null;
  const words: string[] = [];
  let entry: Token[] = [];
  const finish = (phraseEnds: boolean): boolean => {
    const written = entryWords(entry, phraseEnds, encode);
    entry = [];
    if (written !== null) words.push(...written);
    return written !== null;
  };
  for (const token of tokens) {
    if (token.kind !== 'separator') {
      entry.push(token);
      continue;
    }
    // Before a colon stands the name of a group.
    if (!finish(token.raw === ':')) return null;
    const last = words.pop();
    words.push((last ?? '') + token.raw);
  }
  return finish(false) ? words : null;
}

/** The words of a field of which only comments are text. Null where anything else is not ASCII. */
export function asciiStructured(value: string, encode: (text: string) => string[]): string[] | null {
  const tokens = tokenize(value);
  if (tokens === null) return null;
  let text = '';
  for (const { kind, raw } of tokens) {
    if (!NON_ASCII.test(raw)) text += raw;
    else if (kind === 'comment') text += comment(raw, encode);
    else return null;
  }
  return text.split(/[\t ]+/).filter((word) => word !== '');
}

/** One mailbox, or the name of a group. */
function entryWords(
  entry: readonly Token[],
  isName: boolean,
  encode: (text: string) => string[],
): string[] | null {
  const angle = entry.findIndex(({ kind }) => kind === 'angle');
  const phraseEnd = isName ? entry.length : angle;
  const words = phraseEnd > 0 ? phraseWords(entry.slice(0, phraseEnd), encode) : [];
  for (const { kind, raw } of entry.slice(Math.max(phraseEnd, 0))) {
    if (kind === 'blank') continue;
    const written = NON_ASCII.test(raw) ? asciiToken(kind, raw, encode) : raw;
    if (written === null) return null;
    words.push(written);
  }
  return words;
}

function asciiToken(kind: Token['kind'], raw: string, encode: (text: string) => string[]): string | null {
  if (kind === 'comment') return comment(raw, encode);
  if (kind !== 'angle') return asciiAddress(raw);
  const address = asciiAddress(raw.slice(1, -1));
  return address === null ? null : `<${address}>`;
}

/** A name as it is, or all of it encoded: comments in it stay comments. */
function phraseWords(tokens: readonly Token[], encode: (text: string) => string[]): string[] {
  const isPlain = tokens.every(({ kind, raw }) => kind === 'comment' || !NON_ASCII.test(raw));
  const words: string[] = [];
  let name = '';
  for (const { kind, raw } of tokens) {
    if (kind === 'comment') words.push(NON_ASCII.test(raw) ? comment(raw, encode) : raw);
    else if (!isPlain) name += kind === 'quoted' ? unquoted(raw) : kind === 'blank' ? ' ' : raw;
    else if (kind !== 'blank') words.push(raw);
  }
  return isPlain ? words : [...encode(name.trim()), ...words];
}

function comment(raw: string, encode: (text: string) => string[]): string {
  return `(${encode(raw.slice(1, -1)).join(' ')})`;
}

function unquoted(raw: string): string {
  return raw.slice(1, -1).replace(/\\(.)/g, '$1');
}

/** An address whose domain is not ASCII, with A-labels (RFC 5891). Null where that is not all. */
function asciiAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  if (at < 1 || NON_ASCII.test(local)) return null;
  const domain = parseDomain(text.slice(at + 1));
  return domain === null ? null : `${local}@${domain}`;
}

/** All of a value, in order; null when something is never closed. Linear. */
function tokenize(value: string): Token[] | null {
  const tokens: Token[] = [];
  for (let at = 0; at < value.length; ) {
    const char = value[at] ?? '';
    const [kind, end] = tokenAt(value, at, char);
    if (end < 0) return null;
    tokens.push({ kind, raw: value.slice(at, end) });
    at = end;
  }
  return tokens;
}

function tokenAt(value: string, at: number, char: string): readonly [Token['kind'], number] {
  if (BLANK.test(char)) return ['blank', blankEnd(value, at)];
  if (char === '"') return ['quoted', closing(value, at, '"', null)];
  if (char === '(') return ['comment', closing(value, at, ')', '(')];
  if (char === '<') return ['angle', value.indexOf('>', at) + 1 || -1];
  if (SEPARATOR.test(char)) return ['separator', at + 1];
  return ['atom', atomEnd(value, at)];
}

function blankEnd(value: string, start: number): number {
  let at = start;
  while (BLANK.test(value[at] ?? '')) at++;
  return at;
}

/** An address literal is of its atom, colons and all. */
function atomEnd(value: string, start: number): number {
  let end = start;
  while (end < value.length && (end === start || !SPECIAL.test(value[end] ?? ''))) {
    LITERAL.lastIndex = end;
    end = LITERAL.test(value) ? LITERAL.lastIndex : end + 1;
  }
  return end;
}

/** Behind what closes the quote or comment at `start`; -1 when nothing does. */
function closing(value: string, start: number, close: string, open: string | null): number {
  let depth = 1;
  for (let at = start + 1; at < value.length; at++) {
    const char = value[at];
    if (char === '\\') at++;
    else if (char === open) depth++;
    else if (char === close && --depth === 0) return at + 1;
  }
  return -1;
}
