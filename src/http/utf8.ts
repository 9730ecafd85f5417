import { isUtf8 as isUtf8Bytes } from 'node:buffer';
import { Problem } from './problem.ts';

/** Decodes bytes that must be UTF-8 (a byte order mark stays). Throws the problem 400 `invalid_utf8`. */
export function decodeUtf8(bytes: Buffer, what: string): string {
  if (!isUtf8Bytes(bytes))
    throw new Problem(400, 'invalid_utf8', `${what} is not valid UTF-8; encode it as UTF-8.`);
  return bytes.toString('utf8');
}
