import { organizationalDomain } from '../lib/organizational-domain.ts';
import { PLAIN_URL } from '../preview/parse.ts';
import { type Element, type Html, oneBlank, shownTexts } from './html.ts';

/** Links of a message, as a reader meets them. */

/** A link of the HTML. */
export interface Link {
  /** As written, without blanks around it. */
  readonly href: string;
  /** What it can be clicked by; empty for a picture alone. */
  readonly text: string;
  readonly line: number;
}

/** Longer addresses are not looked at. */
const MAX_URL = 4_096;
/** Characters of plain text that are searched for addresses. */
const MAX_SEARCHED = 512 * 1024;
/** Addresses in plain text that are looked at. */
const MAX_FOUND = 1_000;

/** What belongs to the sentence around an address, or is Markdown's. */
const AROUND = '.,;:!?)]*_';

/** The links of HTML, in order. */
export function linksOf(html: Html | null): Link[] {
  if (html === null) return [];
  const texts = new Map<Element, string[]>();
  for (const { text, parent } of shownTexts(html)) {
    const link = parent?.link ?? null;
    if (link === null) continue;
    const pieces = texts.get(link) ?? [];
    pieces.push(text);
    texts.set(link, pieces);
  }
  return html.elements.flatMap((element) => {
    const { name, attributes, line } = element;
    const href = attributes['href']?.trim();
    if ((name !== 'a' && name !== 'area') || href === undefined || href.length > MAX_URL) return [];
    return [{ href, line, text: oneBlank(texts.get(element)?.join('') ?? '') }];
  });
}

/** The web addresses in plain text. */
export function urlsIn(text: string): URL[] {
  const found: URL[] = [];
  for (const [match] of text.slice(0, MAX_SEARCHED).matchAll(PLAIN_URL)) {
    const url = webAddress(withoutEnd(match));
    if (url !== null && found.push(url) >= MAX_FOUND) break;
  }
  return found;
}

function withoutEnd(match: string): string {
  let end = match.length;
  while (end > 0 && AROUND.includes(match[end - 1] ?? '')) end--;
  return match.slice(0, end);
}

/** A web address; null for anything else. */
export function webAddress(text: string): URL | null {
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return null;
  return new URL(text);
}

/** The organizational domain of an address's host: who is behind it. */
export function ownerOf({ hostname }: URL): string {
  return organizationalDomain(hostname.replace(/\.$/, ''));
}
