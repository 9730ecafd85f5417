/** Text from outside, decoded, or known not to be what it should. */

/**
 * Decodes base64 strictly (RFC 4648 §4): the standard alphabet, padding where it belongs, no line breaks, no
 * stray bits. Null when the text is anything else. Node's own decoder skips what it does not know; what it
 * skips is missing from the length; and it looks at the lower byte alone of what is not ASCII.
 */
export function decodeBase64(text: string): Buffer | null {
  if (text.length % 4 !== 0 || text.includes('-') || text.includes('_')) return null;
  if (Buffer.byteLength(text) !== text.length) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== (text.length / 4) * 3 - padding) return null;
  const lastGroup = bytes.subarray(Math.max(0, bytes.length - (3 - padding)));
  return text.endsWith(lastGroup.toString('base64')) ? bytes : null;
}

/** The value of a JSON text; null when it is none. */
export function decodeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Text without the escapes of a URL (RFC 3986 §2.1); as it is where they are malformed, or no UTF-8. */
export function withoutUrlEscapes(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
