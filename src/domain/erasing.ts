/**
 * Erasing a person: how an address may be written in what is stored, and what takes its place (docs/privacy.md). The
 * pseudonym is a keyed hash in the form of an address: records stay whole, and equal addresses stay equal.
 */
import { lowerAscii } from './suppressed-address.ts';

/** Whom to erase. */
export interface Person {
  /** The normal form (`suppressedOf`). */
  readonly address: string;
  /** What takes its place. */
  readonly pseudonym: string;
}

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

/**
 * The address as it may be written, in lower case: as it is, in a URL (RFC 3986 §2.1, every way of escaping it), in
 * xtext (RFC 3461 §4), and inside JSON.
 */
export function formsOf({ address }: Pick<Person, 'address'>): string[] {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  const inUrl = encoded(local);
  const inXtext = local.replace(/[+=]/g, (sign) => (sign === '+' ? '+2b' : '+3d'));
  const inJson = JSON.stringify(address).slice(1, -1);
  return [
    ...new Set(
      [address, inJson, `${inXtext}@${domain}`, `${inUrl}@${domain}`, `${inUrl}%40${domain}`].map(lowerAscii),
    ),
  ];
}

/** Local parts of accepted addresses have no lone surrogates. */
function encoded(local: string): string {
  return encodeURIComponent(local);
}

/** Whether a text names the person. */
export function names(text: string, person: Person): boolean {
  return placesOf(text, person).length > 0;
}

/** The text with the pseudonym wherever it names the person; other people's addresses that merely contain it stay. */
export function renamed(text: string, person: Person): string {
  let result = '';
  let from = 0;
  for (const { start, end } of placesOf(text, person)) {
    if (start < from) continue;
    result += text.slice(from, start) + person.pseudonym;
    from = end;
  }
  return result + text.slice(from);
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Where it names the person, the longest form first where two begin at the same place. */
function placesOf(text: string, person: Person): Place[] {
  const lower = lowerAscii(text);
  const places: Place[] = [];
  for (const form of formsOf(person))
    for (let start = lower.indexOf(form); start >= 0; start = lower.indexOf(form, start + 1)) {
      const end = start + form.length;
      if (!goesOnBefore(lower, start) && !goesOnAfter(lower, end)) places.push({ start, end });
    }
  return places.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Whether an address began before: `joann@example.org` is not `ann@example.org`. */
function goesOnBefore(text: string, start: number): boolean {
  const before = text[start - 1];
  if (before === undefined || !IN_ADDRESS.test(before)) return false;
  // An escaped sign, such as the colon of `rfc822%3Bann@example.org`, ends what came before it, except `+`.
  const escaped = text.slice(start - 3, start);
  return !ESCAPED.test(escaped) || escaped === '%2b';
}

/** Whether its domain goes on: `ann@example.org.uk` is somebody else. */
function goesOnAfter(text: string, end: number): boolean {
  const [first, second] = [text[end], text[end + 1]];
  if (first === undefined) return false;
  if (first === '.') return second !== undefined && IN_DOMAIN.test(second);
  return IN_DOMAIN.test(first);
}

const IN_ADDRESS = /[\p{L}\p{N}.+_-]/u;
const IN_DOMAIN = /[\p{L}\p{N}-]/u;
const ESCAPED = /^%[0-9a-f]{2}$/;

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
