import { encodedWords, isPlain } from './encoded-word.ts';

/** A parameter of a MIME field: its name, and its value as it is meant. */
export type Parameter = readonly [name: string, value: string];

/** Longer values are split, so that lines can be folded. */
const MAX_PLAIN = 60;
/** Less than RFC 2045 calls a token: an apostrophe or a percent sign without quotes is taken for RFC 2231 by some. */
const TOKEN = /^[.\w-]+$/;
/** RFC 2231 §7 attribute-char: what needs no percent sign. */
const ATTRIBUTE_CHAR = /^[!#$&+.^_`{|}~0-9A-Za-z-]$/;
const CHARSET = "utf-8''";

/**
 * The words of one parameter for `writeField`: a token or a quoted string where the value is short plain ASCII,
 * else percent-encoded UTF-8, in numbered sections where it is long (RFC 2231 §3, §4).
 */
export function parameterWords([name, value]: Parameter): string[] {
  if (isPlainValue(value)) return [TOKEN.test(value) ? `${name}=${value}` : `${name}="${value}"`];
  const sections = percentSections(value);
  return sections.map((section, index) => {
    const number = sections.length > 1 ? `*${index}` : '';
    return `${name}${number}*=${index === 0 ? CHARSET : ''}${section}${index < sections.length - 1 ? ';' : ''}`;
  });
}

/** The words of one parameter as encoded words in quotes: no standard, but what readers without RFC 2231 expect. */
export function legacyParameterWords([name, value]: Parameter): string[] {
  const words = encodedWords(value, MAX_PLAIN);
  return words.map((word, index) => {
    const opening = index === 0 ? `${name}="` : '';
    const closing = index === words.length - 1 ? '"' : '';
    return opening + word + closing;
  });
}

/** Whether a value is written as it is, and so read alike by every reader. */
export function isPlainValue(value: string): boolean {
  return value !== '' && value.length <= MAX_PLAIN && isPlain(value) && !/["\\\t]/.test(value);
}

/** The words of a field's value with its parameters, separated by semicolons (RFC 2045 §5.1). */
export function withParameters(value: string, parameters: readonly (readonly string[])[]): string[] {
  const groups = [[value], ...parameters];
  return groups.flatMap((words, index) =>
    words.map((word, at) => (index < groups.length - 1 && at === words.length - 1 ? `${word};` : word)),
  );
}

function percentSections(value: string): string[] {
  const sections: string[] = [];
  let section = '';
  for (const char of value.toWellFormed()) {
    const encoded = ATTRIBUTE_CHAR.test(char) ? char : percentEncode(char);
    if (section.length + encoded.length > MAX_PLAIN - CHARSET.length) {
      sections.push(section);
      section = '';
    }
    section += encoded;
  }
  sections.push(section);
  return sections;
}

function percentEncode(char: string): string {
  return Buffer.from(char).toString('hex').toUpperCase().replace(/../g, '%$&');
}
