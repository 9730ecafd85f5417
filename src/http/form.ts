import { decodePercent, PERCENT_CURE } from './percent.ts';
import { fieldProblem, Problem } from './problem.ts';
import { pointerToken, quote } from './quote.ts';
import { decodeUtf8 } from './utf8.ts';

/** A form field: its name and its value. */
export type FormField = readonly [name: string, value: string];

/**
 * Parses an `application/x-www-form-urlencoded` body (WHATWG URL §5.1), strictly: a malformed escape or what
 * is not UTF-8 is refused, not patched. Fields in order, repeated ones too. Throws a problem 400.
 */
export function parseForm(body: Buffer, limits: { readonly maxFields: number }): FormField[] {
  if (body.length === 0) return [];
  const text = decodeUtf8(body, 'The form');
  const pairs = text.split('&', limits.maxFields + 1);
  if (pairs.length > limits.maxFields)
    throw new Problem(
      400,
      'too_many_fields',
      `A form may have at most ${limits.maxFields} fields; leave some out.`,
    );
  return pairs.filter((pair) => pair !== '').map(parsePair);
}

function parsePair(pair: string): FormField {
  const equals = pair.indexOf('=');
  const rawName = equals < 0 ? pair : pair.slice(0, equals);
  const name = decode(rawName, rawName);
  return [name, equals < 0 ? '' : decode(pair.slice(equals + 1), name)];
}

/** Decodes a name or a value; `name` is what the field is called in a refusal. */
function decode(text: string, name: string): string {
  const decoded = decodePercent(text);
  if (decoded !== null) return decoded;
  const detail = `The field ${quote(name)} has ${PERCENT_CURE}`;
  throw fieldProblem(400, { pointer: `/${pointerToken(name)}`, code: 'malformed_form', detail });
}
