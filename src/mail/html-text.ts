import type { Sliced } from '../lib/clock.ts';

/** What HTML says, as plain text, for mail whose author wrote no text. One pass over any HTML, however it is nested. */

/** Elements that begin and end a line, and those with an empty line around them. */
const LINES = words(
  'address article aside body center dd details div dl dt fieldset figcaption figure footer form header html li main nav option section summary tbody tfoot thead tr',
);
const PARAGRAPHS = words('blockquote h1 h2 h3 h4 h5 h6 hr ol p pre table ul');
/** Elements that end a paragraph (WHATWG HTML §4.4.1). */
const ENDS_PARAGRAPH = words(
  'address article aside blockquote center details dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main menu nav ol p pre section ul',
);
/** Elements whose content nobody reads. */
const SKIPPED = words('script style template title');
const CELLS = words('td th');

const TAG = /^<(\/?)([a-z][a-z0-9:-]*)/i;
const HIDDEN = /display\s{0,9}:\s{0,9}none|mso-hide\s{0,9}:\s{0,9}all/i;
const LINKED = /^(?:https?|mailto|tel):/i;
/** Nothing is printed for it; senders fill the space behind the first line with it. */
const UNSEEN = /\u00ad|\u034f|\u200b|\u2060|\ufeff/g;
/** More lists in each other are all read as the innermost. */
const MAX_LISTS = 8;

/** Characters of HTML to read before other work may run: a few milliseconds. */
const SLICE_CHARACTERS = 64 * 1024;

/** The text of HTML: paragraphs, lists, and links with where they lead. */
export function* textOfHtml(html: string): Sliced<string> {
  const page = new Page();
  let at = 0;
  let sliceEnd = SLICE_CHARACTERS;
  while (at < html.length) {
    if (at >= sliceEnd) {
      yield;
      sliceEnd = at + SLICE_CHARACTERS;
    }
    const start = html.indexOf('<', at);
    page.text(html.slice(at, start < 0 ? html.length : start));
    if (start < 0) break;
    const tag = TAG.exec(html.slice(start, start + 64));
    if (tag === null) at = afterMarkup(html, start, page);
    else {
      const end = endOfTag(html, start + tag[0].length);
      at = end;
      const name = (tag[2] ?? '').toLowerCase();
      if (tag[1] === '/') page.end(name);
      else {
        const attributes = html.slice(start + tag[0].length, Math.max(start + tag[0].length, end - 1));
        if (SKIPPED.has(name)) at = afterElement(html, name, end);
        else page.begin(name, attributes);
      }
    }
  }
  return page.done();
}

/** After a comment, a declaration, or a `<` that begins nothing. */
function afterMarkup(html: string, start: number, page: Page): number {
  if (html.startsWith('<!--', start)) {
    const end = html.indexOf('-->', start + 2);
    return end < 0 ? html.length : end + 3;
  }
  if (!/^<[!?/]/.test(html.slice(start, start + 2))) {
    page.text('<');
    return start + 1;
  }
  const end = html.indexOf('>', start);
  return end < 0 ? html.length : end + 1;
}

/** After the `>` of a tag, which may stand in quotes before. */
function endOfTag(html: string, from: number): number {
  let quote = '';
  for (let at = from; at < html.length; at++) {
    const char = html.charAt(at);
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '>') return at + 1;
    else if ((char === '"' || char === "'") && html.charAt(at - 1) === '=') quote = char;
  }
  return html.length;
}

function afterElement(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}[\\s/>]`, 'gi');
  end.lastIndex = from;
  const found = end.exec(html);
  // Without an end, nothing after it would be shown.
  return found === null ? html.length : found.index;
}

interface List {
  readonly ordered: boolean;
  items: number;
}

/** The text as it grows. */
class Page {
  readonly #pieces: string[] = [];
  /** Line breaks, and a space, before what comes next. */
  #breaks = 0;
  #space = false;
  #isEmpty = true;
  /** Levels of `pre`. */
  #pre = 0;
  readonly #lists: List[] = [];
  /** Of a link: where it leads, and the text from where on it has been written. */
  #link: { readonly href: string; readonly from: number } | null = null;
  /** An element that is not shown, and how many of its name are open in it. */
  #hidden: { readonly name: string; depth: number } | null = null;

  text(source: string): void {
    if (source === '' || this.#hidden !== null) return;
    const text = decodeEntities(source).replace(UNSEEN, '');
    if (this.#pre > 0) {
      this.#write(text.replaceAll('\u00a0', ' '));
      return;
    }
    const plain = text.replace(/[ \t\r\n\f]+/g, ' ');
    if (plain.startsWith(' ')) this.#space = true;
    const inner = plain.trim().replaceAll('\u00a0', ' ');
    if (inner === '') return;
    this.#write(inner);
    this.#space = plain.endsWith(' ');
  }

  begin(name: string, attributes: string): void {
    this.#endHiddenParagraph(name);
    if (this.#hidden !== null) {
      if (name === this.#hidden.name) this.#hidden.depth++;
      return;
    }
    if (attributes !== '' && !VOID.has(name) && isHidden(attributes)) {
      this.#hidden = { name, depth: 1 };
      return;
    }
    this.#block(name);
    if (name === 'br') this.#breaks = Math.min(this.#breaks + 1, 2);
    else if (name === 'hr') {
      this.#write('---');
      this.#break(2);
    } else if (name === 'pre') this.#pre++;
    else if (name === 'ol' || name === 'ul') this.#beginList(name === 'ol');
    else if (name === 'li') this.#beginItem();
    else if (name === 'img') this.text(attribute(attributes, 'alt') ?? '');
    else if (name === 'a') {
      const href = attribute(attributes, 'href') ?? '';
      this.#link = { href: decodeEntities(href).trim(), from: this.#pieces.length };
    } else if (CELLS.has(name)) this.#space = true;
  }

  end(name: string): void {
    if (name !== 'p') this.#endHiddenParagraph(name);
    if (this.#hidden !== null) {
      if (name === this.#hidden.name && --this.#hidden.depth === 0) this.#hidden = null;
      return;
    }
    if (name === 'a') this.#endLink();
    else if (name === 'pre') this.#pre = Math.max(0, this.#pre - 1);
    else if (name === 'ol' || name === 'ul') this.#lists.pop();
    else if (CELLS.has(name)) this.#space = true;
    this.#block(name);
  }

  /** The end tag of a paragraph may be left out where a block begins or ends. */
  #endHiddenParagraph(block: string): void {
    if (this.#hidden?.name === 'p' && ENDS_PARAGRAPH.has(block)) this.#hidden = null;
  }

  done(): string {
    const lines = this.#pieces.join('').split('\n');
    const text = lines.map((line) => line.trimEnd()).join('\n');
    return text === '' ? '' : `${text}\n`;
  }

  #block(name: string): void {
    // Lists in an item follow it at once.
    if (PARAGRAPHS.has(name)) this.#break(this.#lists.length > 0 ? 1 : 2);
    else if (LINES.has(name)) this.#break(1);
  }

  #break(count: number): void {
    this.#breaks = Math.max(this.#breaks, count);
    this.#space = false;
  }

  #beginList(ordered: boolean): void {
    if (this.#lists.length < MAX_LISTS) this.#lists.push({ ordered, items: 0 });
  }

  #beginItem(): void {
    const list = this.#lists.at(-1);
    if (list !== undefined) list.items++;
    const mark = list?.ordered === true ? `${list.items}. ` : '- ';
    this.#write('  '.repeat(Math.max(0, this.#lists.length - 1)) + mark);
  }

  /** Where it leads, unless that is what it says. RFC 3986 appendix C recommends the brackets. */
  #endLink(): void {
    const link = this.#link;
    this.#link = null;
    if (link === null || !LINKED.test(link.href)) return;
    const said = this.#pieces.slice(link.from).join('').trim();
    const bare = link.href.replace(/^mailto:|^tel:/i, '');
    if (said === link.href || said === bare) return;
    this.#space = said !== '';
    this.#write(said === '' ? bare : `<${bare}>`);
  }

  #write(text: string): void {
    if (text === '') return;
    if (!this.#isEmpty) {
      if (this.#breaks > 0) this.#pieces.push('\n'.repeat(this.#breaks));
      else if (this.#space) this.#pieces.push(' ');
    }
    this.#pieces.push(text);
    this.#breaks = 0;
    this.#space = false;
    this.#isEmpty = false;
  }
}

const VOID = words('area base br col embed hr img input link meta source track wbr');
const HIDDEN_ATTRIBUTE = /(?:^|\s)hidden(?=[\s=/]|$)/i;

function isHidden(attributes: string): boolean {
  const style = attribute(attributes, 'style');
  return (
    (style !== null && HIDDEN.test(style)) ||
    HIDDEN_ATTRIBUTE.test(attributes.replace(/"[^"]*"|'[^']*'/g, '""'))
  );
}

/** The value of an attribute, as it is written; null: there is none. */
function attribute(attributes: string, name: string): string | null {
  for (const [, found, double, single, bare] of attributes.matchAll(ATTRIBUTE))
    if (found?.toLowerCase() === name) return double ?? single ?? bare ?? '';
  return null;
}

// Names are tried from their beginning alone: long ones take no more than one look.
const ATTRIBUTE = /(?<![^\s"'<>/=])([^\s"'<>/=]+)\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))/g;

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** Names of characters (WHATWG HTML §13.5): those of Latin-1 in their order, and others that mail uses. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN_1.split(' ').map((name, place): [string, string] => [name, String.fromCodePoint(160 + place)]),
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['euro', '€'],
  ['trade', '™'],
  ['hellip', '…'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['sbquo', '‚'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['bdquo', '„'],
  ['lsaquo', '‹'],
  ['rsaquo', '›'],
  ['bull', '•'],
  ['larr', '←'],
  ['rarr', '→'],
  ['check', '✓'],
  ['star', '☆'],
  ['ensp', ' '],
  ['emsp', ' '],
  ['thinsp', ' '],
  ['zwnj', '\u200c'],
  ['zwj', '\u200d'],
]);

/** Text with the characters that references name; what is none stays. */
export function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z][a-z0-9]{1,7});/gi, (whole: string, name: string) => {
    if (!name.startsWith('#')) return NAMED.get(name) ?? NAMED.get(name.toLowerCase()) ?? whole;
    const isHex = name[1] === 'x' || name[1] === 'X';
    const code = isHex ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
