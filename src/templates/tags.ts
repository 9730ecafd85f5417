import { MAX_NAME, MAX_TAGS, type TemplateFaultCode } from './language.ts';

/** Cuts a template into text and tags. Says nothing about where a tag may stand. */

/** A piece of a template. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly line: number }
  | {
      readonly kind: 'value' | 'raw' | 'section' | 'inverted' | 'end';
      readonly name: string;
      readonly line: number;
    };

/** What is wrong at a line. */
export interface TagFault {
  readonly line: number;
  readonly code: TemplateFaultCode;
  readonly detail: string;
}

const NAME = /^(?:\.|[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*)$/u;
const KINDS: Readonly<Record<string, 'section' | 'inverted' | 'end'>> = {
  '#': 'section',
  '^': 'inverted',
  '/': 'end',
};
/** What other languages write after `{{`, and what to write here. */
const OTHERS: Readonly<Record<string, string>> = {
  '>': 'There are no partials; write the text here.',
  '=': 'The delimiters cannot be changed.',
  '&': 'Write {{{name}}} for a value as it is.',
  '~': 'Remove "~": white space around a tag stays, unless it stands alone on its line.',
};
const HELPER = /^(?:#|\^|\/|else\b)?\s*(if|unless|each|with|else)\b/;
/** As much of a wrong tag is told. */
const MAX_TOLD = 40;

/**
 * The pieces of a template, and the first fault. A section's tag or a comment that stands alone on its line takes the
 * line with it, so that a list in a text has no empty lines.
 */
export function cut(source: string): { readonly pieces: readonly Piece[]; readonly fault: TagFault | null } {
  const pieces: Piece[] = [];
  let line = 1;
  let at = 0;
  for (let tags = 0; ; tags++) {
    const start = source.indexOf('{{', at);
    if (start < 0) break;
    const before = source.slice(at, start);
    const tagLine = line + newlines(before);
    const fault = (code: TemplateFaultCode, detail: string) => ({
      pieces,
      fault: { line: tagLine, code, detail },
    });
    if (tags >= MAX_TAGS) return fault('template_limit', `There may be at most ${MAX_TAGS} tags.`);
    const raw = source.startsWith('{{{', start);
    const close = closeOf(source, start);
    const end = source.indexOf(close, start + 2);
    if (end < 0) return fault('template_syntax', `The tag has no end: "${close}".`);
    const inner = source.slice(start + (raw ? 3 : 2), end);
    const after = end + close.length;
    const tag = raw ? { kind: 'raw' as const, name: inner.trim() } : tagOf(inner);
    const alone = tag.kind !== 'value' && tag.kind !== 'raw' ? lineAround(source, start, after) : null;
    const text = alone === null ? before : source.slice(at, Math.max(at, alone.from));
    if (text !== '') pieces.push({ kind: 'text', text, line });
    if (tag.kind !== 'comment') {
      const wrong = wrongName(inner, tag.name);
      if (wrong !== null) return fault('template_syntax', wrong);
      pieces.push({ kind: tag.kind, name: tag.name, line: tagLine });
    }
    const next = alone?.to ?? after;
    line = tagLine + newlines(source.slice(start, next));
    at = next;
  }
  if (at < source.length) pieces.push({ kind: 'text', text: source.slice(at), line });
  return { pieces, fault: null };
}

function closeOf(source: string, start: number): string {
  if (source.startsWith('{{{', start)) return '}}}';
  // In this kind of comment there may be tags.
  return source.startsWith('{{!--', start) ? '--}}' : '}}';
}

function tagOf(inner: string) {
  if (inner.startsWith('!')) return { kind: 'comment' as const, name: '' };
  const kind = KINDS[inner.charAt(0)];
  return kind === undefined
    ? { kind: 'value' as const, name: inner.trim() }
    : { kind, name: inner.slice(1).trim() };
}

function wrongName(inner: string, name: string): string | null {
  const [first = ''] = name.split('.', 1);
  if (first === 'this')
    return 'Write {{.}} for the item of a section itself, and {{name}} for what is in it.';
  if (first !== 'else' && name.length <= MAX_NAME && NAME.test(name)) return null;
  const other = OTHERS[inner.trim().charAt(0)];
  if (other !== undefined) return other;
  const [, helper] = HELPER.exec(inner.trim()) ?? [];
  if (helper !== undefined)
    return `There are no helpers such as "${helper}"; write {{#name}}…{{/name}} for what is there, {{^name}}…{{/name}} for what is not.`;
  if (name === '') return 'The tag has no name.';
  const told = name.length > MAX_TOLD ? `${name.slice(0, MAX_TOLD).toWellFormed()}…` : name;
  return `"${told}" is no name: letters, digits, "_", "$" and "-", with dots between.`;
}

/** The whole line of a tag that is alone on it; null: it is not. */
function lineAround(source: string, start: number, end: number) {
  let from = start;
  while (from > 0 && isBlank(source.charAt(from - 1))) from--;
  if (from > 0 && source.charAt(from - 1) !== '\n') return null;
  let to = end;
  while (to < source.length && isBlank(source.charAt(to))) to++;
  if (source.startsWith('\r\n', to)) return { from, to: to + 2 };
  if (to === source.length || source.charAt(to) === '\n')
    return { from, to: Math.min(to + 1, source.length) };
  return null;
}

function isBlank(char: string): boolean {
  return char === ' ' || char === '\t';
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
