/**
 * Erasing a person: what takes the address's place, and what is left of records (docs/privacy.md). The pseudonym is a
 * keyed hash in the form of an address: records stay whole, and equal addresses stay equal.
 */
import { type Person, renamed } from './naming.ts';

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
  return renamedIn(value, person) !== value;
}

/** A string of JSON, or a name. */
const JSON_STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** The value with the pseudonym wherever it names the person. What else JSON says stays as it is written. */
export function renamedIn(value: string, person: Person): string {
  if (!isStructure(value)) return renamed(value, person);
  // String by string, however deep they lie: strangers may have nested them deeper than a recursion can follow.
  return value.replace(JSON_STRING, (written) => {
    const text: string = JSON.parse(written);
    const result = renamedIn(text, person);
    return result === text ? written : JSON.stringify(result);
  });
}

/** Whether a text is an object or an array as JSON. */
function isStructure(text: string): boolean {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
