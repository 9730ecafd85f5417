import { checkJsonStructure, type JsonLimits } from './json-structure.ts';
import { fieldProblem, Problem } from './problem.ts';
import { pointerToken } from './quote.ts';
import { decodeUtf8 } from './utf8.ts';

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
    'A string holds half of a surrogate pair, which is no text: send the whole character, or leave it out.';
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
  return `The body is not well-formed JSON ${place}: look for a missing or superfluous quote, comma or bracket there.`;
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
