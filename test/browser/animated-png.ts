/** PNG pictures as one that moves (PNG 3rd edition, §11.3.6), in as few bytes as need be. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** A picture of an animation. */
export interface Frame {
  /** A whole PNG file as browsers make it: red, green and blue in 8 bits each, not interlaced. */
  readonly png: Uint8Array;
  /** For how long it is seen. */
  readonly ms: number;
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Lines without their filters. */
  readonly lines: readonly Buffer[];
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const BYTES_PER_PIXEL = 3;
/** Of a palette. */
const MAX_COLOURS = 256;

/** Frames of one size. They come over and over; who cannot show what moves sees the first alone. */
export function animated(frames: readonly Frame[]): Buffer {
  const all = frames.map(({ png }) => read(png));
  const colours = commonest(all);
  const placeOf = new Map(colours.map((colour, place) => [colour, place]));
  let sequence = 0;
  const chunks = frames.flatMap(({ ms }, place) => {
    const { width, height, lines } = all[place] ?? { width: 0, height: 0, lines: [] };
    const placed = lines.map((line) => Buffer.from([0, ...coloursOf(line).map((one) => find(one, placeOf))]));
    const data = deflateSync(Buffer.concat(placed), { level: 9, memLevel: 9 });
    const time = Buffer.alloc(6);
    time.writeUInt16BE(ms, 0);
    time.writeUInt16BE(1000, 2);
    const control = chunk('fcTL', numbers(sequence++, width, height, 0, 0), time);
    if (place > 0) return [control, chunk('fdAT', numbers(sequence++), data)];
    const header = chunk('IHDR', numbers(width, height), Buffer.from([8, 3, 0, 0, 0]));
    const palette = chunk('PLTE', Buffer.concat(colours.map((colour) => numbers(colour).subarray(1))));
    return [header, chunk('acTL', numbers(frames.length, 0)), palette, control, chunk('IDAT', data)];
  });
  return Buffer.concat([SIGNATURE, ...chunks, chunk('IEND')]);
}

/** The colours that most pixels have: pages have few, and next to none beyond them. */
function commonest(frames: readonly Pixels[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const { lines } of frames)
    for (const line of lines)
      for (const colour of coloursOf(line)) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const ordered = [...counts].toSorted(([, one], [, other]) => other - one);
  return ordered.slice(0, MAX_COLOURS).map(([colour]) => colour);
}

/** The place of a colour, or of the one that is nearest to it, which is remembered. */
function find(colour: number, placeOf: Map<number, number>): number {
  const known = placeOf.get(colour);
  if (known !== undefined) return known;
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [other, place] of placeOf) {
    const far = [16, 8, 0].reduce(
      (sum, by) => sum + (((colour >> by) & 255) - ((other >> by) & 255)) ** 2,
      0,
    );
    if (far < least) [best, least] = [place, far];
  }
  placeOf.set(colour, best);
  return best;
}

function coloursOf(line: Buffer): readonly number[] {
  return Array.from({ length: line.length / BYTES_PER_PIXEL }, (_, at) =>
    line.readUIntBE(at * BYTES_PER_PIXEL, BYTES_PER_PIXEL),
  );
}

function read(png: Uint8Array): Pixels {
  const bytes = Buffer.from(png);
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  if (bytes.readUInt8(24) !== 8 || bytes.readUInt8(25) !== 2) throw new Error('not 24 bits of colour');
  const parts: Buffer[] = [];
  for (let at = SIGNATURE.length; at < bytes.length; at += bytes.readUInt32BE(at) + 12)
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  const filtered = inflateSync(Buffer.concat(parts));
  const stride = width * BYTES_PER_PIXEL;
  const lines: Buffer[] = [];
  let above: Buffer = Buffer.alloc(stride);
  for (let row = 0; row < height; row++) {
    const start = row * (stride + 1);
    above = unfiltered(filtered.subarray(start + 1, start + 1 + stride), filtered.readUInt8(start), above);
    lines.push(above);
  }
  return { width, height, lines };
}

/** A line as its filter (§9.2) says, of the one above it. */
function unfiltered(line: Buffer, filter: number, above: Buffer): Buffer {
  const plain = Buffer.alloc(line.length);
  for (let at = 0; at < line.length; at++) {
    const left = at < BYTES_PER_PIXEL ? 0 : plain.readUInt8(at - BYTES_PER_PIXEL);
    const corner = at < BYTES_PER_PIXEL ? 0 : above.readUInt8(at - BYTES_PER_PIXEL);
    const up = above.readUInt8(at);
    const guesses = [0, left, up, (left + up) >> 1, nearest(left, up, corner)];
    plain[at] = line.readUInt8(at) + (guesses[filter] ?? 0);
  }
  return plain;
}

/** Paeth's guess (§9.4). */
function nearest(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [byLeft, byUp, byCorner] = [left, up, corner].map((value) => Math.abs(guess - value));
  if (byLeft === undefined || byUp === undefined || byCorner === undefined) return 0;
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

function chunk(type: string, ...data: readonly Buffer[]): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), ...data]);
  return Buffer.concat([numbers(named.length - 4), named, numbers(crc32(named))]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [place, value] of values.entries()) bytes.writeUInt32BE(value, 4 * place);
  return bytes;
}
