/**
 * How recipients can unsubscribe: the fields List-Unsubscribe (RFC 2369 §3.2) and List-Unsubscribe-Post (RFC 8058) of a
 * message. A file of its own: the inbox, Mailpit's clients and checks of mail ask for it.
 */

/** What the fields offer, and what is wrong with them: sentences. */
export interface ListUnsubscribe {
  /** Those that can be used, in order: at most one to mail to, and one of the web. */
  readonly links: readonly string[];
  /** One click suffices, without a page between. */
  readonly oneClick: boolean;
  readonly faults: readonly string[];
}

/** Most links that are looked at: further ones are a fault. */
const MAX_LINKS = 10;
/** Characters of a link that a fault quotes. */
const MAX_SHOWN = 100;
/** A link, or a comment outside of links (RFC 5322 §3.2.2). */
const LINK_OR_COMMENT = /<[^<>]*>|\([^()]*\)/g;
const ONE_CLICK = /^List-Unsubscribe\s*=\s*One-Click$/i;

/** Reads the values of both fields, unfolded; an empty text: the message has none. */
export function readListUnsubscribe(value: string, post: string): ListUnsubscribe {
  const faults: string[] = [];
  const links: string[] = [];
  const kinds = new Set<string>();
  const text = value.replace(LINK_OR_COMMENT, (found) => (found.startsWith('<') ? found : ' ')).trim();
  for (const entry of entriesIn(text, faults)) {
    const kind = /^mailto:[^\s:]/i.test(entry) ? 'mailto' : /^https?:\/\/[^\s/]/i.test(entry) ? 'web' : null;
    if (/\s/.test(entry)) faults.push(`${shown(entry)} contains a blank.`);
    else if (kind === null) faults.push(`${shown(entry)} begins neither with https:// nor with mailto:.`);
    else if (!URL.canParse(entry)) faults.push(`${shown(entry)} is not an address of the web.`);
    else if (kinds.has(kind)) faults.push(`${shown(entry)} is one more of its kind.`);
    else {
      kinds.add(kind);
      links.push(entry);
    }
  }
  return { links, oneClick: isOneClick(post, links, faults), faults };
}

function entriesIn(text: string, faults: string[]): string[] {
  if (text === '') return [];
  // A comma may be part of a link, so an entry may be several pieces.
  const entries: string[][] = [];
  for (const piece of text.split(',')) {
    const last = entries.at(-1);
    if (last?.at(-1)?.endsWith('>') === false) last.push(piece.trimEnd());
    else if (entries.length === MAX_LINKS) {
      faults.push(`There are more than ${MAX_LINKS} links.`);
      break;
    } else entries.push([piece.trim()]);
  }
  return entries.flatMap((pieces) => {
    const entry = pieces.join(',');
    if (entry.startsWith('<') && entry.endsWith('>') && entry.length > 2) return [entry.slice(1, -1)];
    faults.push(`${shown(entry)} is not in angle brackets.`);
    return [];
  });
}

function isOneClick(post: string, links: readonly string[], faults: string[]): boolean {
  if (post.trim() === '') return false;
  const isSecure = links.some((link) => /^https:/i.test(link));
  if (!ONE_CLICK.test(post.trim())) faults.push('List-Unsubscribe-Post must be List-Unsubscribe=One-Click.');
  else if (!isSecure) faults.push('One click needs a link with https.');
  else return true;
  return false;
}

function shown(text: string): string {
  return `"${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}"`;
}
