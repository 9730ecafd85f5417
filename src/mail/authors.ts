import { type Mailbox, maxListLength, parseAddress, parseAddressList } from '../domain/mailbox.ts';
import { quotedEnd } from '../domain/quoted-string.ts';
import { decodeWords } from './decode-words.ts';
import type { FieldSpan } from './header-block.ts';

/**
 * Who a message says it is from, for judging whether its client may say so. Programs read odd text differently: some
 * decode encoded words before they look for addresses, some know no nested comments, some no backslash in quotes. An
 * author that any of them may find must be among ours; where that is doubtful, there is no answer.
 */

/** From may name several authors; more than this is no authorship. */
export const MAX_AUTHORS = 50;
/** What every program knows the end of: text without quotes and parentheses, or a comment of words. */
const PLAIN_RUN = /[^"()\\]+|\([^()<>@"\\\0-\x08\x0a-\x1f\x7f-\x9f]*\)/y;
const ENDS_IN_COMMA = /,[\t ]*$/;
const ANGLE_FOLLOWS = /[\t ]*</y;
/** A quoted string that stands for one which names an address. */
const NAME = '"name"';
/** Comments, quoted pairs, encoded words and bytes that are no UTF-8: some programs do not see where they end. */
const UNSURE = /[(\\\ufffd]|=\?/;
/** Charsets in which other bytes may mean ASCII characters: programs differ in their byte order. */
const WIDE_CHARSET = /=\?(?:utf-?16|ucs-?2|unicode|csunicode|iso-10646)/i;
/** Some programs decode each word by itself, and others those side by side as one. */
const BETWEEN_WORDS = /\?=(?=[\t ]*=\?)/g;
/** As in `Zoë @ Acme <zoe@example.com>`: with no dot and no bracket it is no address of a domain that mail can reach. */
const MERE_AT = / @ [^@.。．｡[\]]*(?=<)/g;

/**
 * The mailboxes of every From and Sender field, none where there is no such field; null when one may be read otherwise. An
 * address that one has for its name stands behind it.
 */
export function authorsOf(
  fields: readonly Pick<FieldSpan, 'lowerName' | 'value'>[],
): readonly Mailbox[] | null {
  const found: Mailbox[] = [];
  for (const { lowerName, value } of fields) {
    if (lowerName !== 'from' && lowerName !== 'sender') continue;
    const authors = readAuthors(value, MAX_AUTHORS - found.length);
    if (authors === null) return null;
    found.push(...authors);
  }
  return found;
}

function readAuthors(value: string, max: number): readonly Mailbox[] | null {
  const text = value.length > maxListLength(max) ? null : plainText(value);
  if (text === null) return null;
  const parsed = parseAddressList(text, max);
  if (!parsed.ok) return null;
  const authors: Mailbox[] = [];
  for (const mailbox of parsed.value) {
    const named = mailbox.name?.includes('@') ? parseAddress(mailbox.name) : null;
    authors.push(mailbox);
    // `a@x.test <b@y.test>`, as careless programs write it: whoever does not know better takes the first.
    if (named?.ok) authors.push(named.value);
    else if (named !== null) return null;
  }
  return UNSURE.test(value) && mayHideAddress(value, authors) ? null : authors;
}

/** The text without comments, and with nothing in its quotes that looks like an address; null where that is doubtful. */
function plainText(value: string): string | null {
  let text = '';
  let isFirst = true;
  for (let at = 0; at < value.length; ) {
    PLAIN_RUN.lastIndex = at;
    let run = PLAIN_RUN.exec(value)?.[0];
    if (run === undefined) {
      const end = value[at] === '"' ? quotedEnd(value, at) : -1;
      if (end < 0) return null;
      run = value.slice(at, end);
      if (run.includes('@') && !(isFirst && isName(run, value, end))) return null;
      text += run.includes('@') ? NAME : run;
      isFirst = false;
    } else if (run.startsWith('(')) {
      text += ' ';
    } else {
      text += run;
      isFirst = ENDS_IN_COMMA.test(run) || (isFirst && run.trim() === '');
    }
    at += run.length;
  }
  return text;
}

/** Whether a quoted string that ends there is all of a name, and no program can find an address between angles in it. */
function isName(quoted: string, value: string, end: number): boolean {
  ANGLE_FOLLOWS.lastIndex = end;
  return !/[<>]/.test(quoted) && ANGLE_FOLLOWS.test(value);
}

/** Whether, decoded or not, it may name other addresses than these to a program that sees no limits between its parts. */
function mayHideAddress(value: string, authors: readonly Mailbox[]): boolean {
  if (WIDE_CHARSET.test(value) || authors.some(({ local }) => local.includes('=?'))) return true;
  return [value, value.replace(BETWEEN_WORDS, '$& _ ')].some((text) =>
    mayHideIn(decodeWords(text), value, authors.length),
  );
}

function mayHideIn(decoded: string, value: string, authors: number): boolean {
  if (decoded.includes('=?') || count(decoded.replace(MERE_AT, ' '), '@') !== authors) return true;
  // Quotes out of encoded words may swallow what follows them, if it is not the end.
  const quotes = count(decoded, '"') - count(value, '"');
  return quotes % 2 !== 0 || (quotes > 0 && (authors > 1 || value.includes('(')));
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
