import { decodeUtf8, fieldProblem, Problem, pointerToken, quote } from './problem.ts';

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/**
 * Parses a JSON text (RFC 8259), strictly: UTF-8 only, no lone surrogates, no name twice in one object, no
 * `__proto__`, bounded. Throws a problem 400.
 */
export function parseJson(body: Buffer, limits: JsonLimits): unknown {
  const text = decodeUtf8(body, 'The JSON text');
  checkJsonStructure(text, limits);
  const value = parse(text);
  const pointer = SURROGATE_ESCAPE.test(text) ? illFormedPlace(value) : null;
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
 * The pointer to the first string in a parsed value, names too, that is not well-formed UTF-16; null when there
 * is none. Depth is already bounded.
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

/** Bounds on a JSON text, beside its size. */
export interface JsonLimits {
  /** Arrays and objects inside each other. */
  readonly maxDepth: number;
  /** Values, counted by what opens and separates them: memory is many times the text's for small ones. */
  readonly maxValues: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What is open at some place of the text. */
interface Scope {
  /** The names an object has so far; null for an array. */
  readonly names: Set<string> | null;
  /** The member the text stands at: an object's newest name, an array's index. */
  member: string | number;
}

/**
 * Looks over a JSON text before it is parsed and refuses what `JSON.parse` would take without a word: nesting
 * that overflows later recursion, more values than memory should pay for, a name given twice (the parser keeps
 * the last), and `__proto__` (which code that copies objects may drop or obey). Whether the text is JSON at all
 * is left to the parser. Strings are jumped over, so a message's long texts cost next to nothing.
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

/** The place of the closing quote of the string that opens at `open`; the text's end when there is none. */
function endOfString(text: string, open: number): number {
  let at = open;
  do {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
  } while (isEscaped(text, at));
  return at;
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}

/** Notes the next name of the innermost object. */
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
