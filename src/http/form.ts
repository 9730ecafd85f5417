import { Problem } from './problem.ts';
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
    throw new Problem(400, 'too_many_fields', `A form may have at most ${limits.maxFields} fields.`);
  return pairs.filter((pair) => pair !== '').map(parsePair);
}

function parsePair(pair: string): FormField {
  const equals = pair.indexOf('=');
  if (equals < 0) return [decode(pair), ''];
  return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new Problem(400, 'malformed_form', 'The form has a malformed or non-UTF-8 percent escape.');
  }
}
