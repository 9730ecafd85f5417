/** Paths of MAIL and RCPT (RFC 5321 §4.1.2). */
import { parseDomain } from '../../domain/domain-name.ts';
import { type Mailbox, parseAddress } from '../../domain/mailbox.ts';
import { type SessionReply, sessionReply } from './session-reply.ts';

/** A value, or the reply that refuses it. */
export type OrReply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reply: SessionReply };

/** A path, and where its parameters begin. */
export interface PathText {
  /** The text between the angle brackets, without a source route. */
  readonly address: string;
  /** The text after them. */
  readonly rest: string;
}

export type PathKind = 'sender' | 'recipient';

/** Octets of a path with its angle brackets (RFC 5321 §4.5.3.1.3); a source route may make it longer. */
const MAX_ROUTE = 512;
const NOT_ASCII = /[^\0-\x7f]/;

/** Finds the path at the beginning of the text after `FROM:` or `TO:`. Blanks before it are ignored. */
export function scanPath(text: string, kind: PathKind): OrReply<PathText> {
  let open = 0;
  while (text[open] === ' ') open++;
  if (text[open] !== '<')
    return badPath(kind, 'The address must be in angle brackets, as in <a@example.com>');
  const close = closingBracket(text, open + 1);
  if (close < 0) return badPath(kind, 'The address has no closing angle bracket');
  const address = withoutRoute(text.slice(open + 1, close));
  if (address === null) return badPath(kind, 'The source route cannot be read; omit it');
  const rest = text.slice(close + 1);
  if (rest !== '' && !rest.startsWith(' ')) return badPath(kind, 'A blank must follow the address');
  return { ok: true, value: { address, rest } };
}

/**
 * Parses the address of a path. `utf8`: the transaction has SMTPUTF8 (RFC 6531 §3.5: 553 5.6.7 without); `quoted`:
 * local parts that need quotes are accepted.
 */
export function readMailbox(
  address: string,
  kind: PathKind,
  utf8: boolean,
  quoted: boolean,
): OrReply<Mailbox> {
  if (address === '') return badPath(kind, 'The address is empty; name a recipient, as in <a@example.com>');
  if (!utf8 && NOT_ASCII.test(address))
    return refuse(553, '5.6.7', 'An address that is not ASCII needs SMTPUTF8 in MAIL');
  const parsed = parseAddress(address, quoted);
  if (!parsed.ok) {
    const code = parsed.code === 'address_local_part' && address.startsWith('"') ? 553 : 501;
    return refuse(code, badAddressStatus(kind), parsed.detail.replace(/\.$/, ''));
  }
  if (!quoted && parsed.value.local.startsWith('"'))
    return refuse(553, badAddressStatus(kind), 'Quoted local parts are not accepted here');
  return parsed;
}

/** The position of a path's closing bracket, ignoring those in quoted strings. -1 without one. */
function closingBracket(text: string, from: number): number {
  let inQuotes = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"') inQuotes = !inQuotes;
    else if (char === '\\' && inQuotes) at++;
    else if (char === '>' && !inQuotes) return at;
  }
  return -1;
}

/** `@a,@b:user@c` becomes `user@c` (RFC 5321 §C); null for an invalid route. */
function withoutRoute(path: string): string | null {
  if (!path.startsWith('@')) return path;
  const colon = routeEnd(path);
  if (colon < 0 || colon > MAX_ROUTE) return null;
  const hops = path.slice(0, colon).split(',');
  if (!hops.every((hop) => hop.startsWith('@') && parseDomain(hop.slice(1)) !== null)) return null;
  return path.slice(colon + 1);
}

/** The position of the colon after a route. IPv6 address literals have colons too. */
function routeEnd(path: string): number {
  let depth = 0;
  for (let at = 0; at < path.length; at++) {
    if (path[at] === '[') depth++;
    else if (path[at] === ']') depth--;
    else if (path[at] === ':' && depth === 0) return at;
  }
  return -1;
}

function badPath(kind: PathKind, text: string): OrReply<never> {
  return refuse(501, badAddressStatus(kind), text);
}

/** RFC 3463 §3.2: bad sender's, bad recipient's mailbox address syntax. */
function badAddressStatus(kind: PathKind): string {
  return kind === 'sender' ? '5.1.7' : '5.1.3';
}

function refuse(code: number, enhanced: string, text: string): OrReply<never> {
  return { ok: false, reply: sessionReply(code, enhanced, text) };
}
