import { createHash } from 'node:crypto';

/**
 * PostgreSQL's text can hold neither NUL nor lone surrogates. A subject or a reply may contain them, and hostile text
 * must not fail a transaction that holds other mail.
 */

/** Replaces what no text column can hold, and stands out when shown. */
const REPLACEMENT = '\uFFFD';

const SUSPICIOUS = /[\0\uD800-\uDFFF]/;

/**
 * The text in a storable form: each NUL and each lone surrogate becomes U+FFFD. JSON does not change: it escapes them.
 */
export function holdable(text: string): string {
  return SUSPICIOUS.test(text) ? text.toWellFormed().replaceAll('\0', REPLACEMENT) : text;
}

const TO_ESCAPE = /["\\]/;

/**
 * An array as the text of a statement's parameter (postgresql.org, "Array Input and Output Syntax"). A column of many
 * rows often has one value throughout, which is formatted once.
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

/** Index entries are limited to about 2,700 bytes; a character takes at most three. */
const MAX_INDEXED_CHARACTERS = 600;

/** The text to store in an index that is only searched for whole texts: a digest if it is too long. */
export function indexable(text: string): string {
  if (text.length <= MAX_INDEXED_CHARACTERS) return text;
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
