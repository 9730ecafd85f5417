import { relaxedField } from './dkim-canonical.ts';
import type { FieldSpan } from './header-block.ts';

/**
 * Which header fields are signed (RFC 6376 §5.4). Each name is listed once more than there are such fields, so that none can
 * be added without breaking the signature: readers differ in which of two they show.
 */

/**
 * Signed even where they are absent: whoever adds one changes who the message is from, who is to be answered, what it is
 * about, or how its body is read.
 */
const ALWAYS = [
  ...['from', 'to', 'cc', 'reply-to', 'subject', 'date', 'message-id'],
  ...['mime-version', 'content-type', 'content-transfer-encoding'],
];
/** Signed where they are present. Mailing lists add them to what they pass on, which must not break it. */
const WHERE_PRESENT = new Set([
  ...['sender', 'in-reply-to', 'references', 'feedback-id'],
  ...['list-id', 'list-help', 'list-subscribe', 'list-unsubscribe', 'list-unsubscribe-post'],
]);
/** And so are all of these. */
const FAMILIES = /^(?:content|list)-[!-9;-~]+$/;
/** A message with more fields to sign than this has a header that nobody reads; a signature would be as long. */
export const MAX_SIGNED_FIELDS = 500;

/**
 * The names for `h=`, in lower case, in the order in which fields are to be hashed; null when there are too many fields. Never
 * among them are fields that change on the way: Received, Return-Path, Bcc, and signatures.
 */
export function signedNames(fields: readonly Pick<FieldSpan, 'lowerName'>[]): readonly string[] | null {
  const counts = new Map<string, number>(ALWAYS.map((name) => [name, 0]));
  let count = 0;
  for (const { lowerName } of fields) {
    const before = counts.get(lowerName);
    if (before === undefined && !WHERE_PRESENT.has(lowerName) && !FAMILIES.test(lowerName)) continue;
    counts.set(lowerName, (before ?? 0) + 1);
    count += 1;
    if (count > MAX_SIGNED_FIELDS) return null;
  }
  return [...counts].flatMap(([name, present]) => new Array<string>(present + 1).fill(name));
}

/**
 * The names for a signature in place of one that held with `names` for the fields `before`, now that they were converted to
 * `after`. No other fields are signed than were: what was not may be anybody's. Where none could be added, none can be yet.
 */
export function namesAgain(
  names: readonly string[],
  before: readonly Pick<FieldSpan, 'lowerName'>[],
  after: readonly Pick<FieldSpan, 'lowerName'>[],
): readonly string[] {
  const listed = countsOf(names);
  const was = countsOf(before.map(({ lowerName }) => lowerName));
  const is = countsOf(after.map(({ lowerName }) => lowerName));
  return [...listed].flatMap(([name, count]) => {
    const wasClosed = count > (was.get(name) ?? 0);
    return new Array<string>(wasClosed ? (is.get(name) ?? 0) + 1 : count).fill(name);
  });
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/**
 * The fields that `names` lists in relaxed form, one character for each byte: of fields with the same name the last comes
 * first, and names without a field (any more) stand for nothing (RFC 6376 §5.4.2). `text` is the header.
 */
export function signedText(text: string, fields: readonly FieldSpan[], names: readonly string[]): string {
  const left = new Map<string, FieldSpan[]>();
  for (const name of names) left.set(name, []);
  for (const field of fields) left.get(field.lowerName)?.push(field);
  let signed = '';
  for (const name of names) {
    const field = left.get(name)?.pop();
    if (field !== undefined) signed += relaxedField(text.slice(field.start, field.end));
  }
  return signed;
}
