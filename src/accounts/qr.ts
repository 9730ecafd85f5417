/** QR codes (ISO/IEC 18004): byte mode, error correction M, versions 1 to 10; enough for an `otpauth:` URL. */

import { correctionOf } from './qr-correction.ts';
import { drawCode } from './qr-drawing.ts';

/** By version from 1 on, at level M: correction codewords of a block, and the data codewords of each block. */
const BLOCKS: readonly (readonly [correction: number, data: readonly number[]])[] = [
  [10, [16]],
  [16, [28]],
  [26, [44]],
  [18, [32, 32]],
  [24, [43, 43]],
  [16, [27, 27, 27, 27]],
  [18, [31, 31, 31, 31]],
  [22, [38, 38, 39, 39]],
  [22, [36, 36, 36, 37, 37]],
  [26, [43, 43, 43, 43, 44]],
];

const BYTE_MODE = 0b0100;
const PADDING = [0xec, 0x11];
/** From this version on the length takes 16 bits instead of 8. */
const WIDE_LENGTH_FROM = 10;

/** The rows of a text's QR code without its quiet zone, `1` for black. Throws `RangeError` beyond some 210 bytes. */
export function qrRows(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const index = BLOCKS.findIndex(([, data], place) => bits(bytes.length, place + 1) <= sum(data) * 8);
  const [correction, data] = BLOCKS[index] ?? [0, []];
  if (index < 0) throw new RangeError(`a QR code of ${bytes.length} bytes is too large`);
  const version = index + 1;
  return drawCode(version, interleave(dataCodewords(bytes, version, sum(data)), correction, data));
}

function bits(length: number, version: number): number {
  return 4 + (version < WIDE_LENGTH_FROM ? 8 : 16) + length * 8;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Mode, length, the text, and what fills the code up. */
function dataCodewords(bytes: Buffer, version: number, capacity: number): Uint8Array {
  let stream = BYTE_MODE.toString(2).padStart(4, '0');
  stream += bytes.length.toString(2).padStart(version < WIDE_LENGTH_FROM ? 8 : 16, '0');
  for (const byte of bytes) stream += byte.toString(2).padStart(8, '0');
  stream += '0'.repeat(Math.min(4, capacity * 8 - stream.length));
  stream += '0'.repeat((8 - (stream.length % 8)) % 8);
  const words = new Uint8Array(capacity);
  const used = stream.length / 8;
  for (let at = 0; at < capacity; at++)
    words[at] =
      at < used ? Number.parseInt(stream.slice(at * 8, at * 8 + 8), 2) : (PADDING[(at - used) % 2] ?? 0);
  return words;
}

/** Splits the data into blocks, gives each its correction, and takes a codeword of each in turn. */
function interleave(words: Uint8Array, correction: number, sizes: readonly number[]): number[] {
  let at = 0;
  const blocks = sizes.map((size) => {
    at += size;
    return words.subarray(at - size, at);
  });
  const corrections = blocks.map((block) => correctionOf(block, correction));
  return [...inTurn(blocks), ...inTurn(corrections)];
}

function inTurn(blocks: readonly Uint8Array[]): number[] {
  const longest = Math.max(...blocks.map(({ length }) => length));
  const words: number[] = [];
  for (let at = 0; at < longest; at++)
    for (const block of blocks) {
      const word = block[at];
      if (word !== undefined) words.push(word);
    }
  return words;
}
