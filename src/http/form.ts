import { decodeUtf8, type FieldFault, fieldProblem, Problem, pointerToken, quote } from './problem.ts';

/** Parses `application/x-www-form-urlencoded` strictly, repairing nothing: forms, and the queries of targets. */

/** The fault where {@link decodePercent} returns null, as the end of a sentence. */
const PERCENT_CURE = 'a malformed percent escape; write UTF-8, and "%" as "%25".';

/** Decodes a name or a value; null for a malformed escape, and for escapes that are not UTF-8. */
function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** The pairs of a form or query as sent: a name, and a value, which is empty if missing. */
function pairsOf(parts: readonly string[]): (readonly [name: string, value: string])[] {
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
    });
}

/** A form field: its name and its value. */
export type FormField = readonly [name: string, value: string];

/**
 * Parses an `application/x-www-form-urlencoded` body (WHATWG URL §5.1) strictly: malformed escapes and invalid UTF-8
 * are refused, not repaired. Fields in order, repeated ones too. Throws a problem 400.
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
  return pairsOf(pairs).map(([rawName, value]) => {
    const name = decodeField(rawName, rawName);
    return [name, decodeField(value, name)];
  });
}

/** Decodes a name or a value; `name` is the field's name in a refusal. */
function decodeField(text: string, name: string): string {
  const decoded = decodePercent(text);
  if (decoded !== null) return decoded;
  const detail = `The field ${quote(name)} has ${PERCENT_CURE}`;
  throw fieldProblem(400, { pointer: `/${pointerToken(name)}`, code: 'malformed_form', detail });
}

/** A request target, split. */
export interface Target {
  /** The path, still percent-encoded. */
  readonly path: string;
  /** The query as sent, without `?`. */
  readonly search: string;
}

/** Most faults reported in one answer. */
const MAX_FAULTS = 100;
const BEYOND_ASCII = /[^\x21-\x7e]/;

/** Splits a target. RFC 9112 §3.2.2: a server must accept the absolute form too. */
export function parseTarget(target: string): Target {
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '') || '/';
  const mark = origin.indexOf('?');
  if (mark < 0) return { path: origin, search: '' };
  return { path: origin.slice(0, mark), search: origin.slice(mark + 1) };
}

/**
 * Decodes a query as strictly as a form: a repaired escape could turn an address into another one. Throws the problem
 * 400 `invalid_query` with every faulty parameter.
 */
export function parseQuery(search: string): URLSearchParams {
  const query = new URLSearchParams();
  const faults: FieldFault[] = [];
  for (const [rawName, rawValue] of pairsOf(search.split('&'))) {
    const [name, value] = [decodeParameter(rawName), decodeParameter(rawValue)];
    if (name !== null && value !== null) query.append(name, value);
    else if (faults.length < MAX_FAULTS) faults.push(malformedParameter(name ?? rawName));
  }
  if (faults.length === 0) return query;
  throw new Problem(400, 'invalid_query', 'Some parameters are not valid; see errors.', { errors: faults });
}

/** Node reads non-ASCII bytes, which are invalid in a target (RFC 9112 §3.2), as Latin-1. */
function decodeParameter(text: string): string | null {
  return BEYOND_ASCII.test(text) ? null : decodePercent(text);
}

function malformedParameter(name: string): FieldFault {
  const detail = `The parameter ${quote(name)} has ${PERCENT_CURE}`;
  return { pointer: `/${pointerToken(name)}`, code: 'malformed_escape', detail };
}
