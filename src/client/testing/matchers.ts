import type { CapturedContent, CapturedRecord } from './captured.ts';
import type { NoneQuery, WaitForQuery } from './inbox.ts';
import { checkMembers, checkWanted, givenQuery, isOrMatches, readableText, type Wanted } from './query.ts';
import { attachmentLine, linkLine, listed, quoted, several, titleOf } from './show.ts';

/**
 * Matchers for `expect.extend`, as Jest, Vitest and Playwright take them. They use nothing of these, so that none has
 * to be there.
 */

/** Which attachment: each that is there must hold. */
export interface AttachmentShape {
  readonly contentType?: string;
  readonly sizeBytes?: number;
}

/** What the matchers add to `expect(…)`. `R` is what a matcher gives: nothing, or a promise after `resolves`. */
export interface MailMatchers<R = void> {
  /**
   * Of an inbox: such a mail is there, or comes in time (`timeoutMs`, 4,000 unless told). With `.not`: none is there,
   * and none comes (`within`, 500 unless told). To be awaited.
   */
  toHaveMail(query?: WaitForQuery & NoneQuery): Promise<void>;
  /** Of a mail: it has a link whose address or text is this, or matches; without either: any. */
  toHaveLink(which?: string | RegExp): R;
  /** Of a mail: this code, or one that matches, is among those that it asks its reader to type in; or any. */
  toHaveCode(which?: string | RegExp): R;
  /** Of a mail: it has an attachment of this name, or one that matches, and perhaps of this type and size. */
  toHaveAttachment(name?: string | RegExp, shape?: AttachmentShape): R;
  /** Of a mail: its header has such a field, with this value, or one that matches. */
  toHaveHeader(name: string, value?: string | RegExp): R;
}

/** What a matcher tells. */
interface Verdict {
  readonly pass: boolean;
  readonly message: () => string;
}

/** What `expect` tells a matcher: that the test wrote `.not`. */
interface MatcherContext {
  readonly isNot?: boolean;
}

/** An inbox, as far as it is asked here. */
interface WaitingInbox {
  waitFor(...given: [query?: WaitForQuery]): Promise<unknown>;
  none(...given: [query?: NoneQuery]): Promise<unknown>;
}

/** A mail, as far as it is looked at here. */
type LookedAt = CapturedRecord & CapturedContent;

/** See {@link MailMatchers}. `expect.extend(matchers)` brings them into a test. */
export const matchers = { toHaveMail, toHaveLink, toHaveCode, toHaveAttachment, toHaveHeader };

// With rest parameters, because `undefined` is no absent argument: it comes from a variable that was never set.

async function toHaveMail(
  this: MatcherContext,
  received: unknown,
  ...given: [query?: WaitForQuery & NoneQuery]
): Promise<Verdict> {
  if (!isInbox(received))
    throw new TypeError('toHaveMail looks at an inbox: await expect(inbox).toHaveMail({ to }).');
  const isNot = this?.isNot === true;
  const query = givenQuery(given);
  if (isNot && Object.hasOwn(query, 'timeoutMs'))
    throw new TypeError('not.toHaveMail takes within instead of timeoutMs: how long no such mail may come.');
  if (!isNot && Object.hasOwn(query, 'within'))
    throw new TypeError('toHaveMail takes timeoutMs instead of within, which is for not.toHaveMail.');
  try {
    if (isNot) await received.none(query);
    else await received.waitFor(query);
    return { pass: !isNot, message: () => '' };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'InboxError') throw error;
    return { pass: isNot, message: () => error.message };
  }
}

function toHaveLink(received: unknown, ...given: [which?: Wanted]): Verdict {
  const mail = mailOf(received, 'toHaveLink');
  const which = wantedOf('The link of toHaveLink', given);
  const { links } = mail;
  const found = links.find(({ url, text }) => isOrMatches(url, which) || isOrMatches(text, which));
  const near = nearest(
    which,
    links.map(({ url }) => url),
  );
  const lists = [...near, listed('links', links.map(linkLine))];
  return verdict(mail, 'link', which, found && linkLine(found), lists);
}

function toHaveCode(received: unknown, ...given: [which?: Wanted]): Verdict {
  const mail = mailOf(received, 'toHaveCode');
  const which = wantedOf('The code of toHaveCode', given);
  const found = mail.codes.find((code) => isOrMatches(code, which));
  const lists = [listed('codes', mail.codes.map(quoted)), `Its text: ${quoted(readableText(mail))}`];
  return verdict(mail, 'code', which, found && quoted(found), lists);
}

function toHaveAttachment(received: unknown, ...given: [name?: Wanted, shape?: AttachmentShape]): Verdict {
  const mail = mailOf(received, 'toHaveAttachment');
  const name = wantedOf('The name of toHaveAttachment', given);
  const shape = given.length < 2 ? {} : shapeOf(given[1]);
  const named = mail.attachments.filter(({ filename }) => isOrMatches(filename, name));
  const found = named.find((file) => differences(file, shape).length === 0);
  const [first] = named;
  const lists =
    first === undefined
      ? [listed('attachments', mail.attachments.map(attachmentLine))]
      : [`${quoted(first.filename)} is there, but:`, ...differences(first, shape)];
  return verdict(mail, 'attachment', name, found && attachmentLine(found), lists);
}

function toHaveHeader(received: unknown, name: string, ...given: [value?: Wanted]): Verdict {
  const mail = mailOf(received, 'toHaveHeader');
  if (typeof name !== 'string') throw new TypeError('The name of toHaveHeader must be a string.');
  const value = wantedOf('The value of toHaveHeader', given);
  const fields = mail.headers.filter(([one]) => one.toLowerCase() === name.toLowerCase());
  const values = fields.map(([, text]) => text);
  const found = values.find((text) => isOrMatches(text, value));
  const names = new Set(mail.headers.map(([one]) => one));
  const lists =
    values.length === 0
      ? [`Its header has no ${name}, only ${several([...names])}.`]
      : [...nearest(value, values), listed(name, values.map(quoted))];
  return verdict(mail, `header field ${name}`, value, found === undefined ? undefined : quoted(found), lists);
}

/** What passes where nothing is asked for. */
const ANY = /(?:)/;

/** The first argument that was given; any text passes without one. */
function wantedOf(what: string, given: readonly unknown[]): Wanted {
  if (given.length === 0) return ANY;
  const [wanted] = given;
  checkWanted(what, wanted);
  return wanted;
}

const SHAPE_TYPES = { contentType: 'string', sizeBytes: 'number' } as const;
const SHAPE_NAMES = ['contentType', 'sizeBytes'] as const;

/** Throws for what cannot be compared: it would pass, or with `.not` never fail. */
function shapeOf(shape: AttachmentShape | undefined): AttachmentShape {
  checkMembers('An attachment', shape, SHAPE_NAMES);
  for (const name of SHAPE_NAMES)
    if (name in shape && typeof shape[name] !== SHAPE_TYPES[name])
      throw new TypeError(`${name} of an attachment must be a ${SHAPE_TYPES[name]}.`);
  return shape;
}

function verdict(
  mail: LookedAt,
  what: string,
  wanted: Wanted,
  found: string | undefined,
  lists: readonly string[],
): Verdict {
  const asked = wanted === ANY ? what : `${what} ${quoted(wanted)}`;
  const message = () =>
    found === undefined
      ? [`There is no ${asked} in ${titleOf(mail)}.`, ...lists].join('\n')
      : `There is a ${what} in ${titleOf(mail)} that should not be:\n  ${found}`;
  return { pass: found !== undefined, message };
}

/** Of values that begin as the wanted one does, the one that goes on so the longest, with the place where it ends. */
function nearest(wanted: Wanted, values: readonly string[]): string[] {
  if (typeof wanted !== 'string') return [];
  const alike = values
    .map((value) => ({ value, length: sameLength(value, wanted) }))
    .sort((a, b) => b.length - a.length);
  const [best] = alike;
  if (best === undefined || best.length < LIKE_LENGTH) return [];
  const from = Math.max(0, best.length - SHOWN_BEFORE);
  const around = (text: string) => text.slice(from, best.length + SHOWN_AFTER);
  return [
    `  expected  ${around(wanted)}`,
    `  nearest   ${around(best.value)}`,
    `            ${' '.repeat(best.length - from)}^`,
  ];
}

/** So much of two addresses is the same by chance: `https://`. */
const LIKE_LENGTH = 9;
/** Characters that are shown around the place. */
const SHOWN_BEFORE = 60;
const SHOWN_AFTER = 40;

function sameLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** A line for each member that differs. */
function differences(file: AttachmentShape, shape: AttachmentShape): string[] {
  return SHAPE_NAMES.filter((name) => shape[name] !== undefined && shape[name] !== file[name]).map(
    (name) => `  ${name} is ${quoted(file[name])}, not ${quoted(shape[name])}`,
  );
}

function mailOf(received: unknown, matcher: string): LookedAt {
  if (isMail(received)) return received;
  throw new TypeError(`${matcher} looks at a mail, as inbox.waitFor gives it: was an await forgotten?`);
}

// By what they have, not by their classes: a test may have loaded this module twice.

function isMail(value: unknown): value is LookedAt {
  return typeof value === 'object' && value !== null && 'links' in value && 'codes' in value;
}

function isInbox(value: unknown): value is WaitingInbox {
  return typeof value === 'object' && value !== null && 'waitFor' in value && 'none' in value;
}
