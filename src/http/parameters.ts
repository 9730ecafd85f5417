/** A header value taken apart: what stands before the first `;`, and its parameters. */
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
 * Parses the form `value; name=value; …` that `Content-Type` and `Content-Disposition` share (RFC 9110 §5.6.6,
 * RFC 2183). They differ only in how a quoted value is unescaped, so that is the caller's. Null when it breaks
 * the grammar or names a parameter twice. A `;` with nothing behind it is let pass: real clients send it.
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
