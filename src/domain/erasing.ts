/**
 * Erasing a person: what takes the address's place, and what is left of records (docs/privacy.md). The pseudonym is a
 * keyed hash in the form of an address: records stay whole, and equal addresses stay equal.
 */
import { names, type Person, renamed } from './naming.ts';

/** Makes pseudonyms (`lib/pseudonym.ts`). */
export interface Pseudonymous {
  /** The pseudonym of an address in its normal form; null: the key is not known. */
  of(address: string): string | null;
}

/** The domain of pseudonyms. Nothing can be sent there (RFC 2606 §2). */
export const ERASED_DOMAIN = 'erased.invalid';

/** Whether an address is a pseudonym. */
export function isPseudonym(address: string): boolean {
  return address.endsWith(`@${ERASED_DOMAIN}`);
}

/** Whether a value names the person: text, or JSON whose strings or names do. */
export function namesIn(value: string, person: Person): boolean {
  const json = structureOf(value);
  return json === undefined ? names(value, person) : renamedIn(value, person) !== value;
}

/** The value with the pseudonym wherever it names the person. JSON that does not stays as it is written. */
export function renamedIn(value: string, person: Person): string {
  const json = structureOf(value);
  if (json === undefined) return renamed(value, person);
  let isNamed = false;
  const rename = (text: string): string => {
    const result = renamedIn(text, person);
    isNamed ||= result !== text;
    return result;
  };
  const result = mapped(json, rename);
  return isNamed ? JSON.stringify(result) : value;
}

/** The object or array that a text is as JSON; undefined: it is none. */
function structureOf(text: string): unknown {
  if (!/^[[{]/.test(text)) return;
  try {
    return JSON.parse(text);
  } catch {
    return;
  }
}

/** A value of JSON with all its strings and names mapped. */
function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [change(name), mapped(one, change)]));
}

/**
 * What an attempt's evidence or an event keeps of a message to the person: codes stay, texts that others wrote go, since
 * nobody can say what they tell of the person. Text that is no JSON becomes empty.
 */
export function withoutTexts(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json, (name, value: unknown) => withoutText(name, value)));
  } catch {
    return '';
  }
}

function withoutText(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (name === 'text' || name === 'message') return '';
  if (name === 'reply') return /^\d{3}/.exec(value)?.[0] ?? '';
  // `RCPT TO:<…>` and the like: what follows the command names somebody.
  return name === 'verb' ? (/^[A-Z]+/i.exec(value)?.[0] ?? '') : value;
}
