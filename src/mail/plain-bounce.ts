import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import {
  type RecipientStatus,
  type ReportedAddress,
  readReply,
  readTypedAddress,
  type SpokenReply,
} from './delivery-status.ts';
import { decodeWords } from './field-values.ts';
import { fieldValue } from './header-block.ts';
import {
  parameterOf,
  type ReportField,
  type ReportPart,
  type ReturnedHeader,
  readReturnedHeader,
} from './report-reading.ts';

/** Reads bounces that tell in words what servers failed to do: those of Exim, qmail and many others. */

/** Characters of the text in which a reply is searched (contract §A3). */
export const MAX_SEARCHED_TEXT = 8 * 1024;
/** Bytes of a text to read, for the header that follows; an HTML text may begin with many styles. */
export const MAX_BOUNCE_TEXT = 64 * 1024;
/** Recipients that a text may name. */
export const MAX_NAMED_RECIPIENTS = 100;

/** A text, with LF line ends, up to where it begins to repeat the message; and the rest. */
export interface BounceText {
  readonly told: string;
  readonly repeated: string;
}

/** The contract's first reply in a text; a line may end where it has a blank. */
const REPLY_CODE = /\b([45]\d\d)[ \n-]/;
const BLANK_LINE = /\n[ \t]*\n/;
/** A line that a copy of the message follows. */
const COPY_FOLLOWS =
  /^(?:[ \t]*-.{0,60}\b(?:copy of|original message|unsent message|returned message|original header|header of).{0,80}|[ \t]*(?:original message(?: follows)?|message headers follow)[.:][ \t]*)$/im;
/** Texts that say that it is tried again: nothing has failed yet. */
const DELAY =
  /\bnot yet been delivered\b|\bwarning message only\b|\bwill (?:continue|keep trying|be (?:re)?tried again|be retried|try again)\b|\bstill being retried\b/i;
const DELAY_SUBJECT = /\bdelay(?:ed)?\b|\bstill being retried\b/i;

/**
 * The statuses that a bounce in words tells of; none if it is none. Without `isSure`, only fields and forms that
 * nothing but a bounce has count, and no mere number in the text.
 */
export function readPlainBounce(
  fields: readonly ReportField[],
  { told }: BounceText,
  isSure: boolean,
): readonly RecipientStatus[] {
  const text = told.slice(0, MAX_SEARCHED_TEXT);
  const subject = decodeWords(fieldValue(fields, 'subject') ?? '');
  const action = DELAY.test(text) || DELAY_SUBJECT.test(subject) ? 'delayed' : 'failed';
  const status = (reply: SpokenReply, finalRecipient: ReportedAddress | null): RecipientStatus => ({
    action,
    status: null,
    diagnosticType: null,
    ...reply,
    originalRecipient: null,
    finalRecipient,
    remoteMta: null,
  });
  const named = failedRecipients(fields);
  if (named.length > 0)
    return repliesFor(named, text).map((reply, index) => status(reply, named[index] ?? null));
  const paragraphs = qmailParagraphs(text);
  if (paragraphs !== null)
    return paragraphs.map(([address, words]) => status(readReply(words, REPLY_CODE), address));
  const found = isSure ? firstReply(text) : null;
  return found === null ? [] : [status(found, null)];
}

/** The addresses in `X-Failed-Recipients`, as Exim, Gmail and others write it. */
function failedRecipients(fields: readonly ReportField[]): ReportedAddress[] {
  return fields
    .filter(({ lowerName }) => lowerName === 'x-failed-recipients')
    .flatMap(({ value }) => value.split(',', MAX_NAMED_RECIPIENTS))
    .slice(0, MAX_NAMED_RECIPIENTS)
    .map(readTypedAddress)
    .filter((address) => address !== null);
}

/** What the text says of each address: the reply between its name and the next one's, else the first of all. */
function repliesFor(addresses: readonly ReportedAddress[], text: string): SpokenReply[] {
  const lower = inLowerCase(text);
  const places = addresses.map(({ address }) => lower.indexOf(inLowerCase(address)));
  const sections = places.map((place, index) => {
    if (place < 0) return '';
    const next = Math.min(...places.filter((other) => other > place), text.length);
    return text.slice(place + (addresses[index]?.address.length ?? 0), next);
  });
  const replies = sections.map(firstReply);
  const common = replies.some((reply) => reply !== null) ? null : firstReply(text);
  return sections.map(
    (section, index) => replies[index] ?? common ?? readReply(paragraphOf(section), REPLY_CODE),
  );
}

/** From the first reply code to the end of its paragraph; null without one. */
function firstReply(text: string): SpokenReply | null {
  const found = REPLY_CODE.exec(text);
  return found === null ? null : readReply(paragraphOf(text.slice(found.index)), REPLY_CODE);
}

function paragraphOf(text: string): string {
  return text.trimStart().split(BLANK_LINE, 1)[0] ?? '';
}

const QMAIL = /^\s{0,20}Hi\. This is the\b/;
const QMAIL_RECIPIENT = /^<([^<>\n]{1,1024})>:[ \t]*\n?/;

/** Recipients and their paragraphs in qmail's form (QSBMF, https://cr.yp.to/proto/qsbmf.txt); null for any other. */
function qmailParagraphs(text: string): readonly (readonly [ReportedAddress | null, string])[] | null {
  if (!QMAIL.test(text)) return null;
  const found: [ReportedAddress | null, string][] = [];
  for (const paragraph of text.split(BLANK_LINE).slice(1)) {
    if (paragraph.startsWith('-') || found.length === MAX_NAMED_RECIPIENTS) break;
    const name = QMAIL_RECIPIENT.exec(paragraph);
    const last = found.at(-1);
    if (name !== null) found.push([readTypedAddress(name[1] ?? ''), paragraph.slice(name[0].length)]);
    else if (last !== undefined) last[1] += `\n${paragraph}`;
  }
  return found.length > 0 ? found : null;
}

// The text of a message, and the copy of the bounced one that may follow in it.

/** The first text of the message's own parts; without a plain one, what an HTML text shows. */
export function plainText(parts: readonly ReportPart[]): BounceText {
  const own = parts.filter(({ level }) => level === 0);
  const part =
    own.find(({ type }) => type === 'text/plain') ?? own.find(({ type }) => type === 'text/html') ?? parts[0];
  if (part === undefined) return { told: '', repeated: '' };
  const decoded = decodeText(part).replaceAll('\r\n', '\n');
  const text = part.type === 'text/html' ? shownText(decoded) : decoded;
  const copy = COPY_FOLLOWS.exec(text);
  if (copy === null) return { told: text, repeated: '' };
  return { told: text.slice(0, copy.index), repeated: text.slice(copy.index + copy[0].length) };
}

/** The header that a text repeats; null if it has none. */
export function inlineHeader({ repeated }: BounceText): ReturnedHeader | null {
  const lines = repeated.trimStart().replaceAll('\n', '\r\n');
  const header = readReturnedHeader(Buffer.from(lines));
  return header.messageId === null && header.returnPath === null ? null : header;
}

function decodeText(part: ReportPart): string {
  const bytes = part.body.subarray(0, MAX_BOUNCE_TEXT);
  const charset = parameterOf(part, 'charset') ?? (isUtf8(bytes) ? 'utf-8' : 'latin1');
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // An unknown charset. Reply codes are ASCII in all that are used.
    return bytes.toString('latin1');
  }
}

const UNSHOWN_ELEMENTS: readonly string[] = ['style', 'script'];
/** Elements that begin or end a paragraph. */
const BLOCK = /^\/?(?:p|div|br|h\d|tr|table|ul|ol|li|hr|blockquote|body)\b/;
const MAX_ELEMENT_NAME = 16;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: ' ' };

/** What is between the tags of an HTML text. Linear. */
function shownText(html: string): string {
  const lower = inLowerCase(html);
  let text = '';
  let at = 0;
  for (;;) {
    const open = html.indexOf('<', at);
    if (open < 0) return unescaped(text + html.slice(at));
    const isBlock = BLOCK.test(lower.slice(open + 1, open + MAX_ELEMENT_NAME));
    text += html.slice(at, open) + (isBlock ? '\n\n' : ' ');
    const element = UNSHOWN_ELEMENTS.find((name) => lower.startsWith(name, open + 1));
    const end = element === undefined ? open : lower.indexOf(`</${element}`, open);
    const close = end < 0 ? -1 : html.indexOf('>', end);
    if (close < 0) return unescaped(text);
    at = close + 1;
  }
}

/** ASCII letters only, so that places stay the same. */
function inLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '');
}
