import { decodePercent, PERCENT_CURE } from './percent.ts';
import { type FieldFault, Problem } from './problem.ts';
import { pointerToken, quote } from './quote.ts';

/** What a request asks for: its target, taken apart. */
export interface Target {
  /** The path, still percent-encoded. */
  readonly path: string;
  /** The query as sent, without `?`. */
  readonly search: string;
}

/** One answer tells at most so many faults. */
const MAX_FAULTS = 100;
const BEYOND_ASCII = /[^\x21-\x7e]/;

/** Takes a target apart. RFC 9112 §3.2.2: a server must take the absolute form too. */
export function parseTarget(target: string): Target {
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '') || '/';
  const mark = origin.indexOf('?');
  if (mark < 0) return { path: origin, search: '' };
  return { path: origin.slice(0, mark), search: origin.slice(mark + 1) };
}

/**
 * Decodes a query as strictly as a form: patched, a malformed escape would make another address of the one that
 * was meant. Throws the problem 400 `invalid_query` with every parameter that has one.
 */
export function parseQuery(search: string): URLSearchParams {
  const query = new URLSearchParams();
  const faults: FieldFault[] = [];
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = decode(rawName);
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (name !== null && value !== null) query.append(name, value);
    else if (faults.length < MAX_FAULTS) faults.push(malformed(name ?? rawName));
  }
  if (faults.length === 0) return query;
  throw new Problem(400, 'invalid_query', 'Some parameters are not valid; see errors.', { errors: faults });
}

/** Node reads bytes beyond ASCII, which have no place in a target (RFC 9112 §3.2), as if they were Latin-1. */
function decode(text: string): string | null {
  return BEYOND_ASCII.test(text) ? null : decodePercent(text);
}

function malformed(name: string): FieldFault {
  const detail = `The parameter ${quote(name)} has ${PERCENT_CURE}`;
  return { pointer: `/${pointerToken(name)}`, code: 'malformed_escape', detail };
}
