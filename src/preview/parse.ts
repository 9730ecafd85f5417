import PostalMime, { type Address, type Attachment, decodeWords } from 'postal-mime';
import { decodeEntities } from '../mail/html-text.ts';
import {
  type FoundLink,
  type ParsedAttachment,
  type ParsedField,
  type ParsedMailbox,
  type ParsedMessage,
  PreviewError,
  tellsByStyle,
} from './parsed.ts';

/** Levels of nested parts; deeper ones are not genuine mail. */
const MAX_NESTING = 32;
const MAX_HEADER_BYTES = 512 * 1024;
/** Most header fields to show. */
export const MAX_FIELDS = 300;
/** Characters of one field to show. */
const MAX_FIELD = 16 * 1024;
/** Characters of text, and of HTML, to show. */
export const MAX_TEXT = 2 * 1024 * 1024;
/** Characters of what it says as text. */
export const MAX_PLAIN = 64 * 1024;
/** Most files to list. */
export const MAX_FILES = 200;
/** Mailboxes of a field. */
export const MAX_MAILBOXES = 200;
const KEPT_OUT =
  'Its remote pictures stay out: its styles could have them fetched with cookies, or tell where they are read.';
const TURNS_TEXT = /[\u202a-\u202e\u2066-\u2069]/g;
const MAX_NAME = 200;

/** Reads a message. Throws {@link PreviewError} `unreadable`. */
export async function parseMessage(bytes: Uint8Array): Promise<ParsedMessage> {
  const email = await parse(bytes);
  const notes: string[] = [];
  const attachments = email.attachments.slice(0, MAX_FILES).map(attachmentOf);
  if (email.attachments.length > MAX_FILES)
    notes.push(`Only the first ${MAX_FILES} of ${email.attachments.length} files are listed.`);
  const fields = email.headers.slice(0, MAX_FIELDS);
  if (email.headers.length > MAX_FIELDS)
    notes.push(`Only the first ${MAX_FIELDS} of ${email.headers.length} header fields are shown.`);
  const shorten = (text: string | undefined, what: string) => {
    if (text === undefined || text === '') return null;
    if (text.length <= MAX_TEXT) return text;
    notes.push(`Of the ${what} only the beginning is shown.`);
    return text.slice(0, MAX_TEXT);
  };
  const words = {
    subject: email.subject ?? '',
    html: shorten(email.html, 'HTML'),
    text: shorten(email.text, 'text'),
  };
  const html = words.html ?? '';
  const pictures = remotePicturesIn(html);
  const isKeptOut = pictures > 0 && tellsByStyle(html);
  if (isKeptOut) notes.push(KEPT_OUT);
  return {
    ...words,
    from: email.from === undefined ? '' : addressText(email.from),
    headers: fields.map(fieldOf),
    mailboxes: {
      from: mailboxesOf(email.from === undefined ? [] : [email.from]),
      to: mailboxesOf(email.to),
      cc: mailboxesOf(email.cc),
      replyTo: mailboxesOf(email.replyTo),
    },
    attachments,
    remotePictures: isKeptOut ? 0 : pictures,
    plain: plainIn(words),
    links: linksIn(words),
    codes: codesIn(words),
    notes,
  };
}

async function parse(bytes: Uint8Array) {
  try {
    return await PostalMime.parse(bytes, {
      maxNestingDepth: MAX_NESTING,
      maxHeadersSize: MAX_HEADER_BYTES,
      forceRfc822Attachments: true,
    });
  } catch (error) {
    throw new PreviewError('unreadable', `The message cannot be read: ${String(error)}`);
  }
}

function fieldOf({ originalKey, value }: { originalKey: string; value: string }): ParsedField {
  return { name: originalKey, value: decodeWords(value.slice(0, MAX_FIELD)) };
}

function addressText(address: Address): string {
  if (address.group !== undefined) return address.name;
  return address.name === '' ? address.address : `${address.name} <${address.address}>`;
}

function mailboxesOf(addresses: readonly Address[] = []): ParsedMailbox[] {
  const found: ParsedMailbox[] = [];
  for (const one of addresses)
    for (const { name, address = '' } of one.group ?? [one]) {
      if (found.length === MAX_MAILBOXES) return found;
      found.push({ name: name.slice(0, MAX_FIELD), address: address.slice(0, MAX_FIELD) });
    }
  return found;
}

function attachmentOf(file: Attachment, index: number): ParsedAttachment {
  const { content, contentId } = file;
  return {
    filename: fileName(file.filename, index),
    contentType: file.mimeType.toLowerCase(),
    inline: file.related === true || file.disposition === 'inline',
    contentId: contentId === undefined ? null : contentId.replace(/^<|>$/g, ''),
    content: typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content),
  };
}

/**
 * A file name without a path or invisible characters: marks that change text direction could hide an extension, and are
 * shown as escapes allowed in a file name, `[U+202E]`.
 */
function fileName(given: string | null, index: number): string {
  const name = (given ?? '')
    .replace(/^.*[/\\]/s, '')
    .replace(TURNS_TEXT, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`)
    .replace(/[\p{C}\p{Zl}\p{Zp}"<>|:*?]/gu, '_')
    .trim()
    .replace(/^[.\s]+/, '');
  return name === '' ? `file-${index + 1}` : Array.from(name).slice(0, MAX_NAME).join('');
}

/** Most links to return. */
export const MAX_LINKS = 100;
/** Most codes to return. */
export const MAX_CODES = 10;
const MAX_URL = 2048;
const MAX_LABEL = 200;
/** Characters to search. */
const MAX_SEARCHED = 512 * 1024;

const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
/** Longer tags are ignored. */
const MAX_TAG = 8192;
/** A web address in plain text, with what of the sentence stands right behind it. */
export const PLAIN_URL = /\bhttps?:\/\/[^\s<>"'`\\^{|}\p{C}]{1,2048}/giu;
/** Tries a run only from its beginning, so that it takes linear time. */
const PUNCTUATION_AT_END = /(?<![.,;:!?)\]])[.,;:!?)\]]+$/;
/** Four to eight digits, also as two groups of three, or six to ten capitals and digits, standing alone. */
const CODE =
  /(?<![\w.,:/@#$€£+-]|\d )(\d{3}[- ]\d{3}|\d{4,8}|(?=[A-Z]*\d)[A-Z0-9]{6,10})(?![\w@/%€£-]|[.,:]\d)/g;
const CODE_WORD = /code|pin\b|otp|verif|passcode|password|confirm|one-time|token|einmal|bestätig/gi;
/** Most numbers to examine. */
const MAX_CANDIDATES = 1000;
/** Such as 2026, which is rarely a code. */
const YEAR = /^(?:19|20)\d\d$/;

/** The web addresses in a message, each once, in order: those of the HTML, otherwise of the text. */
export function linksIn({ html, text }: Pick<ParsedMessage, 'html' | 'text'>): FoundLink[] {
  const found = new Map<string, FoundLink>();
  const add = (url: string, inner: string) => {
    if (found.size >= MAX_LINKS || url.length > MAX_URL || found.has(url) || !isWebAddress(url)) return;
    const label = plainText(inner.split(/<\/a/i, 1)[0] ?? '').slice(0, MAX_LABEL);
    found.set(url, { url, text: label === url ? '' : label });
  };
  for (const { url, inner } of anchors((html ?? '').slice(0, MAX_SEARCHED))) add(url, inner);
  for (const [url] of (text ?? '').slice(0, MAX_SEARCHED).matchAll(PLAIN_URL))
    add(url.replace(PUNCTUATION_AT_END, ''), '');
  return [...found.values()];
}

/** The `href` of each anchor, and the text that follows, which is read only for returned links: there may be many. */
function* anchors(html: string): Generator<{ readonly url: string; readonly inner: string }> {
  for (const { start, end } of tagsOf(html)) {
    if (end - start > MAX_TAG || !/^<a\s/i.test(html.slice(start, start + 3))) continue;
    const match = HREF.exec(html.slice(start, end));
    const url = decodeEntities(match?.[1] ?? match?.[2] ?? match?.[3] ?? '').trim();
    if (url !== '') yield { url, inner: html.slice(end, end + 2000) };
  }
}

/** The bounds of tags, in one pass whatever the text; quotes are not considered. */
function* tagsOf(html: string): Generator<{ readonly start: number; readonly end: number }> {
  let start = html.indexOf('<');
  while (start >= 0) {
    const end = html.indexOf('>', start);
    if (end < 0) return;
    const last = html.lastIndexOf('<', end);
    yield { start: last, end: end + 1 };
    start = html.indexOf('<', end);
  }
}

/** Elements that are pictures, and attributes of others that name one. */
const PICTURE = /^<(?:img|image|feimage|input)\b/i;
const SOURCE = /[\s"'/](?:src|srcset|(?:xlink:)?href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const BEHIND = /[\s"'/](?:background|poster)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
/** A picture of a style, which may also be a style sheet's or a font's address. */
const STYLED = /(@import\s{1,20})?\burl\(\s{0,20}(?:["']|&quot;|&#39;)?([^\s"')]{1,2048})/gi;
const NO_PICTURE = /\.(?:css|woff2?|ttf|otf|eot)(?:[?#]|$)/i;

/** How many pictures HTML has a browser fetch from elsewhere, each address once: about, since only a browser knows. */
export function remotePicturesIn(html: string): number {
  const found = new Set<string>();
  const add = (given: string | undefined) => {
    const address = decodeEntities(given ?? '').trim();
    if (/^(?:https?:)?\/\/[^/]/i.test(address)) found.add(address.replace(/^https?:/i, ''));
  };
  const seen = withoutComments(html);
  for (const { start, end } of tagsOf(seen)) {
    if (end - start > MAX_TAG) continue;
    const tag = seen.slice(start, end);
    for (const pattern of PICTURE.test(tag) ? [SOURCE, BEHIND] : [BEHIND]) {
      const match = pattern.exec(tag);
      // Of a srcset a browser fetches one.
      add((match?.[1] ?? match?.[2] ?? match?.[3])?.trim().split(/,?\s/, 1)[0]);
    }
  }
  for (const [, imported, address = ''] of seen.matchAll(STYLED))
    if (imported === undefined && !NO_PICTURE.test(address)) add(address.replace(/&(?:quot|#39);.*/, ''));
  return found.size;
}

/** Comments hold what only some mail programs read. In one pass, whatever the text. */
function withoutComments(html: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let start = html.indexOf('<!--'); start >= 0; start = html.indexOf('<!--', from)) {
    pieces.push(html.slice(from, start));
    const end = html.indexOf('-->', start);
    if (end < 0) return pieces.join('');
    from = end + 3;
  }
  pieces.push(html.slice(from));
  return pieces.join('');
}

/** What a message says as text, cut to {@link MAX_PLAIN} characters. */
export function plainIn({ html, text }: Pick<ParsedMessage, 'html' | 'text'>): string {
  return (text ?? plainText((html ?? '').slice(0, MAX_SEARCHED))).slice(0, MAX_PLAIN).toWellFormed();
}

/** Codes to type in: first those near a word that says so. */
export function codesIn({ html, text, subject }: Pick<ParsedMessage, 'html' | 'text' | 'subject'>): string[] {
  const body = text ?? plainText((html ?? '').slice(0, MAX_SEARCHED));
  const source = `${subject}\n${body.slice(0, MAX_SEARCHED)}`.replace(PLAIN_URL, ' ');
  const found = [...source.matchAll(CODE)].slice(0, MAX_CANDIDATES).map((match) => {
    const code = match[1] ?? '';
    return { code: code.replace(/[- ]/g, ''), distance: distanceToWord(source, match.index, code.length) };
  });
  const good = found.filter(
    ({ code, distance }) => !YEAR.test(code) && (distance < Number.POSITIVE_INFINITY || /^\d{6}$/.test(code)),
  );
  good.sort((a, b) => a.distance - b.distance);
  return [...new Set(good.map(({ code }) => code))].slice(0, MAX_CODES);
}

/** The distance to a word that marks a code: shortly before it, or right after it. */
function distanceToWord(text: string, at: number, length: number): number {
  const before = text.slice(Math.max(0, at - 60), at);
  const behind = text.slice(at + length, at + length + 25);
  const ahead = [...before.matchAll(CODE_WORD)].at(-1);
  const after = behind.search(CODE_WORD);
  return Math.min(
    ahead === undefined ? Number.POSITIVE_INFINITY : before.length - ahead.index - ahead[0].length,
    after < 0 ? Number.POSITIVE_INFINITY : after,
  );
}

/** Only these are returned as links: an `href` may contain anything. */
function isWebAddress(url: string): boolean {
  if (!/^https?:\/\//i.test(url)) return false;
  return URL.canParse(url);
}

/** The readable text of HTML: without tags, and without what only browsers read. */
function plainText(html: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of tagsOf(html)) {
    if (start < from) continue;
    pieces.push(html.slice(from, start), ' ');
    const hidden = /^<(style|script|title|template)\b/i.exec(html.slice(start, start + 10))?.[1];
    const close = hidden === undefined ? -1 : indexOfEnd(html, hidden, end);
    if (hidden !== undefined && close < 0) return decodeEntities(pieces.join('')).trim();
    from = close < 0 ? end : close;
  }
  pieces.push(html.slice(from));
  return decodeEntities(pieces.join('')).replace(/\s+/g, ' ').trim();
}

/** The position of an element's end tag, in any letter case; -1 without one. */
function indexOfEnd(html: string, element: string, from: number): number {
  const end = new RegExp(`</${element}`, 'gi');
  end.lastIndex = from;
  return end.exec(html)?.index ?? -1;
}
