/** Writes values where they stand. */

/** How a value is written where it stands. */
export type Form =
  /** As it is. */
  | 'none'
  /** As it is, but on one line: a header. */
  | 'line'
  /** In text, and attribute values in quotes. */
  | 'html'
  /** In a comment. */
  | 'comment'
  /** In a URL, behind its `?` or `#`. */
  | 'query'
  /** In an attribute value without quotes. */
  | 'unquoted'
  /** In a style. */
  | 'style'
  /** In a string of JSON in a script. */
  | 'json';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A value as it is written, or why it cannot be. */
export type Written = { readonly text: string } | { readonly refused: string };

/** Names of colours, lengths, percentages, fonts: nothing that ends what it is in, or loads anything. */
const IN_STYLE = /^[\p{L}\p{N}\s#%.,+-]*$/u;
const LINE_BREAK = /[\r\n\v\f\u0085\u2028\u2029]/;

/** A value as text, escaped for its place. */
export function written(value: string, form: Form): Written {
  switch (form) {
    case 'none':
      return { text: value };
    case 'line':
      return LINE_BREAK.test(value)
        ? { refused: 'A value in the subject must not have line breaks.' }
        : { text: value };
    case 'html':
      return { text: escapeHtml(value) };
    case 'comment':
      // Nothing in it ends the comment, not even together with what is beside it.
      return { text: value === '' ? ' ' : escapeHtml(value).replace(/[-!]/g, asReference) };
    case 'query':
      return { text: encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, asPercent) };
    case 'unquoted':
      return value === ''
        ? { refused: 'It is empty, and the attribute has no quotes: write name="{{…}}".' }
        : { text: value.replace(/[^\w.:/#%?~-]/gu, asReference) };
    case 'style':
      return IN_STYLE.test(value)
        ? { text: value }
        : { refused: 'A value in a style may have letters, digits, spaces, and "# % . , + -".' };
    case 'json':
      return {
        text: JSON.stringify(value)
          .slice(1, -1)
          .replace(/[<>&'\u2028\u2029]/g, asJsonEscape),
      };
  }
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '');
}

function asReference(char: string): string {
  return `&#${char.codePointAt(0)};`;
}

function asPercent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

function asJsonEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Tabs and line breaks in it are ignored by programs, and so is what is not printed before it. */
const IGNORED = /[\0-\x20]+/g;
/** Ways to write a character of HTML that a scheme is made of, or that is ignored in it. */
const REFERENCE = /&(?:#(?:x0*([0-9a-f]{1,6})|0*(\d{1,7}));?|(amp|colon|tab|newline);)/gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', colon: ':', tab: '\t', newline: '\n' };
const RUNS = /^(?:javascript|vbscript|data):/i;
const PICTURE = /^data:image\/(?:png|gif|jpe?g|webp)[;,]/i;

function decoded(whole: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

/** Why a URL must not stand in mail; null: it may. */
export function urlRefusal(url: string): string | null {
  const plain = url.replace(REFERENCE, decoded).replace(IGNORED, '');
  if (!RUNS.test(plain) || PICTURE.test(plain)) return null;
  return 'A link must not begin with javascript:, vbscript: or data:.';
}
