/** A media type with its parameters (RFC 9110 §8.3.1). */
export interface MediaType {
  /** `type/subtype`, lower case. */
  readonly type: string;
  /** By lower-case name, unquoted. */
  readonly params: ReadonlyMap<string, string>;
}

/** Parses the value of a `Content-Type` header; null if it is missing or malformed, or repeats a parameter. */
export function parseMediaType(header: string | undefined): MediaType | null {
  if (header === undefined) return null;
  const parsed = parseParameterized(header, (quoted) => quoted.replace(/\\(.)/gs, '$1'));
  if (parsed === null || !/^[^/]+\/[^/]+$/.test(parsed.value)) return null;
  return { type: parsed.value, params: parsed.params };
}

/** Whether a `charset` parameter names a single-byte charset in which ASCII bytes mean ASCII. */
export function isAsciiBelow({ params }: MediaType): boolean {
  return /^(?:iso-8859-\d{1,2}|windows-125\d|latin1)$/i.test(params.get('charset') ?? '');
}

/** Whether the `charset` parameter, if any, means UTF-8 (of which US-ASCII is a subset). */
export function isUtf8(mediaType: MediaType): boolean {
  const charset = mediaType.params.get('charset')?.toLowerCase() ?? 'utf-8';
  return charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii';
}

/** A header value, split: the part before the first `;`, and its parameters. */
export interface ParameterizedValue {
  /** Lower case. */
  readonly value: string;
  /** By lower-case name. */
  readonly params: ReadonlyMap<string, string>;
}

const TOKEN_CHARS = "!#$%&'*+\\-.^_`|~0-9A-Za-z";
const VALUE = new RegExp(`^[${TOKEN_CHARS}/]+`);
const NAME = new RegExp(`[ \\t]*;[ \\t]*(?:([${TOKEN_CHARS}]+)=)?`, 'y');
const TOKEN = new RegExp(`[${TOKEN_CHARS}]+`, 'y');
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;

/**
 * Parses the form `value; name=value; …` that `Content-Type` and `Content-Disposition` share (RFC 9110 §5.6.6, RFC
 * 2183). They differ only in how a quoted value is unescaped, which the caller does. Null if it breaks the grammar or
 * repeats a parameter. A trailing `;` is accepted: real clients send it.
 */
export function parseParameterized(
  header: string,
  unquote: (quoted: string) => string,
): ParameterizedValue | null {
  const text = header.trim();
  const value = VALUE.exec(text)?.[0];
  if (value === undefined) return null;
  const params = new Map<string, string>();
  let at = value.length;
  while (at < text.length) {
    const separator = matchAt(NAME, text, at);
    if (separator === null) return null;
    at = NAME.lastIndex;
    const name = separator[1]?.toLowerCase();
    if (name === undefined) continue;
    const quoted = matchAt(QUOTED, text, at)?.[1];
    const parsed = quoted === undefined ? matchAt(TOKEN, text, at)?.[0] : unquote(quoted);
    if (parsed === undefined || params.has(name)) return null;
    params.set(name, parsed);
    at = quoted === undefined ? TOKEN.lastIndex : QUOTED.lastIndex;
  }
  return { value: value.toLowerCase(), params };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
