import { decodeUtf8, fieldProblem, Problem, pointerToken, quote } from './problem.ts';

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/**
 * Parses a JSON text (RFC 8259) strictly: UTF-8 only, no lone surrogates (unless allowed), no repeated name in an
 * object, no `__proto__`, bounded. Throws a problem 400.
 */
export function parseJson(body: Buffer, limits: JsonLimits): unknown {
  const text = decodeUtf8(body, 'The JSON text');
  checkJsonStructure(text, limits);
  const value = parse(text);
  const pointer = !limits.takesHalfPairs && SURROGATE_ESCAPE.test(text) ? illFormedPlace(value) : null;
  if (pointer === null) return value;
  const detail =
    'A string has half of a surrogate pair, which is not text: send the whole character, or leave it out.';
  throw fieldProblem(400, { pointer, code: 'lone_surrogate', detail });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem(400, 'malformed_json', malformedDetail(text, error));
  }
}

function malformedDetail(text: string, error: unknown): string {
  if (text.trim() === '') return 'The body is empty; send a JSON object.';
  if (text.startsWith('\ufeff'))
    return 'The body begins with a byte order mark, which is not part of JSON; send it without.';
  const message = error instanceof Error ? error.message : '';
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(message)?.[0] ?? 'at its end';
  return `The body is not well-formed JSON ${place}: look there for a missing or superfluous quote, comma or bracket.`;
}

/**
 * The pointer to the first string in a parsed value, names included, that is not well-formed UTF-16; null if there is
 * none. Depth is already bounded.
 */
function illFormedPlace(value: unknown): string | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : '';
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, item] of Object.entries(value)) {
    const below = name.isWellFormed() ? illFormedPlace(item) : '';
    if (below !== null) return `/${pointerToken(name.toWellFormed())}${below}`;
  }
  return null;
}

/** Bounds on a JSON text, besides its size. */
export interface JsonLimits {
  /** Levels of nested arrays and objects. */
  readonly maxDepth: number;
  /** Values, counted by the characters that open and separate them: small ones take many times the text's memory. */
  readonly maxValues: number;
  /** Takes text with half of a surrogate pair, as from programs that cut quoted replies anywhere. Default: it is refused. */
  readonly takesHalfPairs?: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** An open object or array. */
interface Scope {
  /** The names in the object so far; null for an array. */
  readonly names: Set<string> | null;
  /** The current member: an object's newest name, an array's index. */
  member: string | number;
}

/**
 * Checks a JSON text before it is parsed, and refuses what `JSON.parse` would silently accept: nesting that overflows
 * later recursion, more values than memory allows, a repeated name (the parser keeps the last), and `__proto__` (which
 * code that copies objects may drop or obey). The parser decides whether the text is JSON at all. Strings are skipped,
 * so a message's long texts cost next to nothing.
 */
function checkJsonStructure(text: string, limits: JsonLimits): void {
  const scopes: Scope[] = [];
  let scope: Scope | null = null;
  let values = 1;
  let nameNext = false;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (nameNext) addName(scopes, text.slice(at + 1, end));
        nameNext = false;
        at = end;
        break;
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        scope = { names: text.charCodeAt(at) === OPEN_OBJECT ? new Set() : null, member: 0 };
        if (scopes.push(scope) > limits.maxDepth)
          throw tooComplex(`be nested at most ${limits.maxDepth} levels deep; flatten it`);
        nameNext = scope.names !== null;
        values += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        scopes.pop();
        scope = scopes.at(-1) ?? null;
        break;
      case COMMA:
        nameNext = (scope?.names ?? null) !== null;
        if (typeof scope?.member === 'number') scope.member += 1;
        values += 1;
        break;
    }
    if (values > limits.maxValues)
      throw tooComplex(`hold at most ${limits.maxValues} values; send them in several requests`);
  }
}

/** The position of the closing quote of the string that opens at `open`; the text's end if there is none. */
function endOfString(text: string, open: number): number {
  let at = open;
  do {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
  } while (isEscaped(text, at));
  return at;
}

/** Whether an odd number of backslashes precedes `at`. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

/** Records the next name of the innermost object. */
function addName(scopes: readonly Scope[], raw: string): void {
  const scope = scopes.at(-1);
  const names = scope?.names ?? null;
  if (scope === undefined || names === null) return;
  const name = raw.includes('\\') ? unescapeName(raw) : raw;
  scope.member = name;
  if (name === '__proto__')
    throw faultAt(scopes, 'forbidden_name', 'The name "__proto__" is not taken anywhere; choose another.');
  if (names.has(name))
    throw faultAt(
      scopes,
      'duplicate_name',
      `The name ${quote(name)} stands twice in one object; give it once, several values as an array.`,
    );
  names.add(name);
}

function faultAt(scopes: readonly Scope[], code: string, detail: string): Problem {
  const pointer = scopes.map(({ member }) => `/${pointerToken(String(member).toWellFormed())}`).join('');
  return fieldProblem(400, { pointer, code, detail });
}

function unescapeName(raw: string): string {
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}

function tooComplex(rule: string): Problem {
  return new Problem(400, 'json_too_complex', `The JSON text may ${rule}.`);
}
