import type { FieldFault } from '../../http/problem.ts';

/**
 * How a request is shown in the log of requests: by what is known of it, never by what may be an address or a token.
 * A file of its own: what is shown is a promise, and held alone.
 */

const MAX_PATH = 120;
/** Segments shown of an unknown path; further ones are cut. */
const MAX_SEGMENTS = 8;
/** Faults shown, and segments of their pointers. */
const MAX_FAULTS = 3;
const MAX_POINTER = 4;
const CUT = '…';

/** Our own ids (contract §3, contract-2 §0), their form as UUIDs, numbers, and names of operations. */
const HARMLESS = /^(?:[a-z]{3}_[0-9a-z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{1,16})$/i;
const OPERATION = /^[A-Za-z]{1,40}$/;
/** A word, such as is in paths and fields; tokens have digits, and addresses a sign. */
const WORD = /^(?:v\d|[A-Za-z][A-Za-z_-]{0,30})$/;
const PLACE = /^\d{1,6}$/;

/** A path that is one of ours: its pattern, with values where these can be no more than an id. */
export function shownMatch(pattern: string, params: Readonly<Record<string, string>>): string {
  return pattern.replaceAll(/\{(\w+)\}/g, (named, name: string) => {
    const value = params[name] ?? '';
    return HARMLESS.test(value) || (name === 'operation' && OPERATION.test(value)) ? value : named;
  });
}

/** A path that is none of ours, without its query: what is not a word is cut. */
export function shownPath(path: string): string {
  const [, ...segments] = path.slice(0, MAX_PATH * 2).split('/', MAX_SEGMENTS + 2);
  const shown = segments.map((segment, place) => {
    if (place === MAX_SEGMENTS) return CUT;
    return segment === '' || WORD.test(segment) ? segment : CUT;
  });
  const text = `/${shown.join('/')}`;
  return text.length > MAX_PATH ? text.slice(0, MAX_PATH - 1) + CUT : text;
}

/** The first faults of a refusal, as `/to/0 address_invalid`; null: it names no field. */
export function shownFaults(errors: readonly FieldFault[]): string | null {
  if (errors.length === 0) return null;
  const shown = errors.slice(0, MAX_FAULTS).map(({ pointer, code }) => `${shownPointer(pointer)} ${code}`);
  return [...shown, ...(errors.length > MAX_FAULTS ? [CUT] : [])].join(', ');
}

function shownPointer(pointer: string): string {
  const [, ...segments] = pointer.split('/', MAX_POINTER + 1);
  const words = segments.map((segment) => (WORD.test(segment) || PLACE.test(segment) ? segment : CUT));
  return `/${words.join('/')}`;
}
