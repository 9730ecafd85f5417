import { parseParameterized } from './parameters.ts';

/** A media type with its parameters (RFC 9110 §8.3.1). */
export interface MediaType {
  /** `type/subtype`, lower case. */
  readonly type: string;
  /** By lower-case name, unquoted. */
  readonly params: ReadonlyMap<string, string>;
}

/** Parses the value of a `Content-Type` header; null when it is none, or malformed, or repeats a parameter. */
export function parseMediaType(header: string | undefined): MediaType | null {
  if (header === undefined) return null;
  const parsed = parseParameterized(header, (quoted) => quoted.replace(/\\(.)/gs, '$1'));
  if (parsed === null || !/^[^/]+\/[^/]+$/.test(parsed.value)) return null;
  return { type: parsed.value, params: parsed.params };
}

/** Whether a `charset` parameter names one of the charsets of a byte a character in which ASCII stands for itself. */
export function isAsciiBelow({ params }: MediaType): boolean {
  return /^(?:iso-8859-\d{1,2}|windows-125\d|latin1)$/i.test(params.get('charset') ?? '');
}

/** Whether a `charset` parameter, if there is one, means UTF-8 (of which US-ASCII is a part). */
export function isUtf8(mediaType: MediaType): boolean {
  const charset = mediaType.params.get('charset')?.toLowerCase() ?? 'utf-8';
  return charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii';
}
