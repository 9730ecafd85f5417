import { ApiError } from './api.ts';

/**
 * What is wrong with a form, sorted by its fields. The server tells faults as lines: `cidrs.0: is no range`, of a message
 * `to/1: is no mailbox`, or, of what stands in the configuration, `relay.port = 99999: must be a port from 1 to 65535 (command line)`.
 */
export interface Faults {
  /** What to say beside each field, by the field's name. */
  readonly fields: Readonly<Record<string, string>>;
  /** What is about no field of the form, for above its buttons; null for nothing. */
  readonly rest: string | null;
}

/** Nothing is wrong. */
const NO_FAULTS: Faults = { fields: {}, rest: null };

/** A fault, and the path of what it is about, such as `['relay', 'port']`, and how that was written. */
interface Fault {
  readonly path: readonly string[];
  readonly key: string;
  readonly text: string;
}

/** A key as faults begin with it, up to what follows: a value, or the rule. */
const KEY = /^([A-Za-z_][\w-]*(?:[./][\w-]+|\[\d+\])*)(?= = |: )/;

/**
 * Sorts what an error says by the form's fields. `place` gives the field that a path is about, or null where the form has
 * none; by default it is the first part of the path.
 */
export function faultsOf(
  error: Error | null,
  known: readonly string[],
  place: (path: readonly string[]) => string | null = ([first]) => first ?? null,
): Faults {
  if (error === null) return NO_FAULTS;
  const pointed =
    error instanceof ApiError
      ? error.fields.map(({ pointer, detail }) => faultAt(partsOf(pointer), detail))
      : [];
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  const found = pointed.length > 0 ? pointed : readLines(error.message);
  for (const fault of found) {
    const field = typeof fault === 'string' ? null : place(fault.path);
    if (typeof fault === 'string') rest.push(fault);
    else if (field !== null && known.includes(field))
      fields[field] =
        fields[field] === undefined ? sentence(fault.text) : `${fields[field]} ${sentence(fault.text)}`;
    else rest.push(`${fault.key}: ${fault.text}`);
  }
  return { fields, rest: rest.length === 0 ? null : rest.join('\n') };
}

/** Each line as a fault; one that is about nothing is given as it is. */
export function readLines(message: string): readonly (Fault | string)[] {
  return message
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(readLine);
}

function readLine(line: string): Fault | string {
  const key = KEY.exec(line)?.[1];
  if (key === undefined) return line;
  const behind = line.slice(key.length);
  const rule = behind.startsWith(': ') ? behind.slice(2) : afterValue(behind.slice(3));
  const path = key.replace(/\[(\d+)\]/g, '.$1').split(/[./]/);
  return { path, key, text: rule.replace(/ \([^()]*\)$/, '') };
}

/** What follows a value in JSON, which may have been cut, and may hold what looks like its end. */
function afterValue(text: string): string {
  for (let end = text.indexOf(': '); end >= 0; end = text.indexOf(': ', end + 1)) {
    const value = text.slice(0, end);
    if (value.endsWith('…') || isJson(value)) return text.slice(end + 2);
  }
  return text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function faultAt(path: readonly string[], text: string): Fault {
  return { path, key: path.join('.'), text };
}

function partsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A rule as a sentence of its own. */
function sentence(rule: string): string {
  const text = `${rule.charAt(0).toUpperCase()}${rule.slice(1)}`;
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
