import { createHash } from 'node:crypto';

/**
 * PostgreSQL's text holds neither NUL nor half of a surrogate pair. A subject or a reply may have them: hostile text
 * must not make a transaction fail in which others' mail is.
 */

/** What no text column can hold stands out when it is shown. */
const REPLACEMENT = '\uFFFD';

const SUSPICIOUS = /[\0\uD800-\uDFFF]/;

/** The text as it can be held: each NUL and each lone surrogate becomes U+FFFD. JSON is not changed: it escapes them. */
export function holdable(text: string): string {
  return SUSPICIOUS.test(text) ? text.toWellFormed().replaceAll('\0', REPLACEMENT) : text;
}

const TO_ESCAPE = /["\\]/;

/**
 * An array as it is written in a statement's parameter (postgresql.org, "Array Input and Output Syntax"). A column of many rows
 * often has one value throughout, which is written out once.
 */
export function arrayText(values: readonly (string | number | boolean | null)[]): string {
  let last: (typeof values)[number] = null;
  let text = 'NULL';
  const texts = values.map((value) => {
    if (value === last) return text;
    last = value;
    text = typeof value === 'string' ? quoted(holdable(value)) : String(value ?? 'NULL');
    return text;
  });
  return `{${texts.join(',')}}`;
}

function quoted(text: string): string {
  return TO_ESCAPE.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}

/** Entries of an index are limited to about 2,700 bytes; a character is at most three. */
const MAX_INDEXED_CHARACTERS = 600;

/** What stands for a text in an index that is asked for whole texts only: a longer one's digest. */
export function indexable(text: string): string {
  if (text.length <= MAX_INDEXED_CHARACTERS) return text;
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
