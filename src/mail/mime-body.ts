/** What the body of a part says: bytes, or text (RFC 2045 §6, RFC 2046 §4.1). */
import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { SLICE_BYTES, type Sliced } from '../lib/clock.ts';
import type { Entity } from './mime-entity.ts';
import { decodeLeaf, isEncoding } from './seven-bit-leaf.ts';
import { Refused } from './unrebuildable.ts';

/** Names of ASCII, the charset of what names none (RFC 2046 §4.1.2). */
const ASCII_NAMES: ReadonlySet<string> = new Set(['us-ascii', 'ascii', 'ansi_x3.4-1968', 'iso646-us']);
/** Parameters of a text that mean nothing once it is decoded, or what every text is. */
const IDLE_PARAMETERS: readonly (readonly [name: string, value: string])[] = [
  ['format', 'fixed'],
  ['delsp', 'no'],
];

/** The bytes of a part. Throws {@link Refused}. */
export function* decodeBytes({ body, encoding }: Entity): Sliced<Buffer> {
  const bytes = isEncoding(encoding) ? yield* decodeLeaf(body, encoding) : null;
  if (bytes === null) throw new Refused('body_encoding');
  return bytes;
}

/** The text of a part, its lines ended as they are. Throws {@link Refused}. */
export function* decodeText(entity: Entity): Sliced<string> {
  for (const [name, value] of entity.parameters)
    if (name !== 'charset' && !name.startsWith('x-') && !isIdle(name, value))
      throw new Refused('text_format');
  const bytes = yield* decodeBytes(entity);
  const charset = (entity.parameters.get('charset') ?? 'us-ascii').trim().toLowerCase();
  if (ASCII_NAMES.has(charset) && !isAscii(bytes)) throw new Refused('charset');
  const text = yield* decoded(bytes, ASCII_NAMES.has(charset) ? 'utf-8' : charset);
  // An API may end its string there.
  if (text.includes('\0')) throw new Refused('charset');
  return text;
}

function isIdle(name: string, value: string): boolean {
  return IDLE_PARAMETERS.some(([idle, only]) => name === idle && value.toLowerCase() === only);
}

function* decoded(bytes: Buffer, charset: string): Sliced<string> {
  try {
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
    let text = '';
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      if (from > 0) yield;
      text += decoder.decode(bytes.subarray(from, from + SLICE_BYTES), { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    // Both the charset that is not known and the byte that is not of it.
    if (error instanceof TypeError || error instanceof RangeError) throw new Refused('charset');
    throw error;
  }
}
