/** Strict decoding of text from outside. */

/**
 * Decodes base64 strictly (RFC 4648 §4): the standard alphabet, correct padding, no line breaks, no stray bits. Null
 * for any other text. Node's own decoder skips unknown characters, which then are missing from the length, and reads
 * only the lower byte of characters outside ASCII.
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

/** The value of a JSON text; null if it is invalid. */
export function decodeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A member of a JSON object; null if it is missing, or `value` is no object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : null;
}

/** As {@link memberOf}, where it must be text of 1 to `maxLength` characters; null for anything else. */
export function textOf(value: unknown, name: string, maxLength: number): string | null {
  const text = memberOf(value, name);
  return typeof text === 'string' && text !== '' && text.length <= maxLength ? text : null;
}

/**
 * How many ms a `Retry-After` asks to wait from `now` (wall ms) on: seconds, or a date (RFC 9110 §10.2.3); null if it
 * asks for nothing, or cannot be read.
 */
export function retryAfterMs(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return ms > 0 ? ms : null;
}

/** Text with URL escapes decoded (RFC 3986 §2.1); unchanged if they are malformed or not UTF-8. */
export function withoutUrlEscapes(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
