/**
 * How a person is named in what is stored: an address may be written in many ways, and others' addresses may end with it
 * (`o'brien@example.org` is not `brien@example.org`).
 */
import { quote } from './address-entry.ts';
import { parseAddress, parseMailbox } from './mailbox.ts';
import { lowerAscii, suppressedOf } from './suppressed-address.ts';

/** Whom to erase. */
export interface Person {
  /** The normal form (`suppressedOf`). */
  readonly address: string;
  /** Its domain as people write it, in Unicode: the same as in the address, for most. */
  readonly unicodeDomain: string;
  /** What takes its place. */
  readonly pseudonym: string;
}

/** Whether a text that is one address is the person's, however it is quoted, composed, or in capitals. */
export function isAddressOf(text: string, person: Pick<Person, 'address'>): boolean {
  const parsed = parseAddress(text);
  const normal = parsed.ok ? suppressedOf(parsed.value.address).address : lowerAscii(text);
  return normal === person.address;
}

/** Whether a `From` field, or the like, is of the person. A field with several mailboxes is, if it names the person. */
export function isMailboxOf(field: string, person: Person): boolean {
  const parsed = parseMailbox(field);
  return parsed.ok ? isAddressOf(parsed.value.address, person) : names(field, person);
}

/**
 * The address as it may be written in a text, in lower case: as it is, in quotes, with its domain in Unicode, in a URL
 * (RFC 3986 §2.1), in xtext (RFC 3461 §4, RFC 6533 §3), in a reverse-path of its own (VERP), and each of these inside
 * JSON.
 */
export function formsOf({ address, unicodeDomain }: Pick<Person, 'address' | 'unicodeDomain'>): string[] {
  const at = address.lastIndexOf('@');
  const [written, domain] = [address.slice(0, at), address.slice(at + 1)];
  const locals = composed(written).flatMap((local) =>
    local.startsWith('"') ? [local] : [local, quote(local)],
  );
  const domains = [domain, ...composed(unicodeDomain).flatMap((name) => [name, name.toUpperCase()])];
  const forms = domains.flatMap((name) => locals.flatMap((local) => writings(local, name)));
  return [...new Set(forms.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]).map(lowerAscii))];
}

/** A text in both compositions of Unicode. */
function composed(text: string): string[] {
  return [...new Set([text.normalize('NFC'), text.normalize('NFD')])];
}

function writings(local: string, domain: string): string[] {
  const escaped = encodeURIComponent(local);
  // Some programs escape these signs, too.
  const escapedMore = escaped.replace(/[!'()*]/g, percent);
  const escapedDomain = encodeURIComponent(domain);
  return [
    `${local}@${domain}`,
    `${local}%40${domain}`,
    ...[escaped, escapedMore].flatMap((one) => [`${one}@${domain}`, `${one}%40${escapedDomain}`]),
    ...(local.startsWith('"') ? [] : [`${inXtext(local)}@${domain}`, `${inUnitext(local)}@${domain}`]),
    `${local}=${domain}`,
  ];
}

function percent(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16)}`;
}

function inXtext(local: string): string {
  return local.replace(/[+=]/g, (sign) => (sign === '+' ? '+2b' : '+3d'));
}

function inUnitext(local: string): string {
  return Array.from(inXtext(local), (sign) =>
    sign > '\x7f' ? `\\x{${sign.codePointAt(0)?.toString(16)}}` : sign,
  ).join('');
}

/** Whether a text names the person. */
export function names(text: string, person: Person): boolean {
  return placesOf(text, person).length > 0;
}

/** The text with the pseudonym wherever it names the person; other people's addresses that merely contain it stay. */
export function renamed(text: string, person: Person): string {
  let result = '';
  let from = 0;
  for (const { start, end, isPath } of placesOf(text, person)) {
    if (start < from) continue;
    result += text.slice(from, start) + (isPath ? person.pseudonym.replace('@', '=') : person.pseudonym);
    from = end;
  }
  return result + text.slice(from);
}

interface Place {
  readonly start: number;
  readonly end: number;
  /** It is part of a reverse-path, with `=` for `@`. */
  readonly isPath: boolean;
}

/** Where it names the person, the longest form first where two begin at the same place. */
function placesOf(text: string, person: Person): Place[] {
  const lower = lowerAscii(text);
  const places: Place[] = [];
  for (const form of formsOf(person)) {
    const isPath = !form.includes('@') && !form.includes('%40');
    for (let start = lower.indexOf(form); start >= 0; start = lower.indexOf(form, start + 1)) {
      const end = start + form.length;
      if (!goesOnBefore(lower, start, end, isPath) && !goesOnAfter(lower, end))
        places.push({ start, end, isPath });
    }
  }
  return places.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** The longest local part whose every character is escaped in a URL. */
const MAX_BEFORE = 3 * 64;
/** What ends a word before an address: no local part contains it, save in quotes. */
const WORD = /[^[\s"<>\(\)\[\]@,;:\\\p{C}\p{Z}\p{Ps}\p{Pe}\p{Pi}、。，：；]--[\{\}]]*$/v;
/** Letters and digits of any script: what is outside of ASCII may be in a local part (RFC 6531 §3.3). */
const LETTER = /[\p{L}\p{M}\p{N}]/u;
/** A mark that stands on both sides of what it sets apart, and the one that closes it. */
const CLOSING: Readonly<Record<string, string>> = {
  "'": "'",
  '`': '`',
  '*': '*',
  _: '_',
  '|': '|',
  '~': '~',
  '{': '}',
};
/** A path, or a URL without its scheme: with a host before its first slash, if anything is. */
const URL_START = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)+)?(?:\/|\?)/;
/** `to=`, at the beginning or as a parameter of a URL; and the tag of a signed reverse-path (BATV). */
const ASSIGNMENT = /(?:^|[/?&#])[\w.~-]+=$/;
const BATV = /^prvs=[0-9a-z]+=$/;
/** What comes before the address in a reverse-path of its own: `bounces+`, `list-return-17-`. */
const PATH_START = /(?:[+=]|\d-)$/;

/**
 * Whether an address began before: `joann@example.org` and `o'ann@example.org` are not `ann@example.org`. Most signs may
 * be in a local part and may set it apart from other text as well; it is set apart where no letter is in the word before
 * it, where the same mark follows it, and in a URL or after `name=`.
 */
function goesOnBefore(text: string, start: number, end: number, isPath: boolean): boolean {
  const word = WORD.exec(unescaped(text.slice(Math.max(0, start - MAX_BEFORE), start)))?.[0] ?? '';
  if (!LETTER.test(word) || word.endsWith('..')) return false;
  const [last = '', before = ''] = [word.at(-1), word.at(-2)];
  const closing = CLOSING[last];
  if (closing !== undefined && text[end] === closing && !LETTER.test(before)) return false;
  if (isPath && PATH_START.test(word)) return false;
  if (ASSIGNMENT.test(word) || BATV.test(word)) return false;
  return !(URL_START.test(word) && /[/?#]$/.test(word));
}

/** Escaped signs of ASCII as they are, and others as letters. */
function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9a-f]{2})/g, (_, code: string) => {
    const sign = String.fromCharCode(Number.parseInt(code, 16));
    return sign > '\x7f' ? 'x' : sign;
  });
}

/** Whether its domain goes on: `ann@example.org.uk` is somebody else. */
function goesOnAfter(text: string, end: number): boolean {
  return /^(?:\.|-+)?[\p{L}\p{M}\p{N}]/u.test(text.slice(end, end + MAX_BEFORE));
}
