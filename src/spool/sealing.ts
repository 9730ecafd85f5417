import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ContentRef } from '../domain/message.ts';
import { type Turn, yieldToLoop } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import {
  bodyBytesOf,
  boundPart,
  type EncodedRecord,
  FRAME_BYTES,
  FRAMES_AT,
  SEALED_FRAME_BYTES,
  sealedBytes,
  sealedHeader,
  withSum,
} from './record.ts';

/**
 * Contents encrypted at rest (decision 0016). Each segment has a random key of its own, which is stored wrapped by the
 * key of the installation. AES-256-GCM encrypts a body in frames of `FRAME_BYTES`; each is bound to the record's
 * place and header, so that none can be moved, cut or exchanged.
 *
 * A nonce is the number of the record under its key (8 bytes) and the number of the frame (4 bytes). A key is used by
 * the one process that made it, and that process never uses a number twice, even for a record that it takes back. So no
 * nonce can repeat.
 */
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 8;
/** The name of the key that wraps, a nonce, the wrapped key, and a tag. */
export const WRAPPED_BYTES = KEY_ID_BYTES + NONCE_BYTES + KEY_BYTES + TAG_BYTES;
const PURPOSE = 'waybill segment key 1';
/** Bytes encrypted and summed in one turn of the event loop. */
const TURN_BYTES = 1024 * 1024;

/** Where a record lies. */
export type RecordPlace = Pick<ContentRef, 'segment' | 'offset'>;

/** The keys of encrypted contents. */
export interface ContentKeys {
  /** Names the key that wraps; it reveals nothing of it. */
  readonly keyId: string;
  /** Whether new segments are encrypted. What is encrypted is read either way. */
  readonly encrypting: boolean;
  /** A key for a new segment. */
  make(): SegmentKey;
  /** A segment's key; null if it was wrapped under another key than ours, or damaged. */
  unwrap(wrapped: Uint8Array): SegmentKey | null;
}

/** What the key of an installation says of itself. */
export interface WrappingKey {
  /** 16 hex digits. */
  readonly keyId: string;
  /** A key for a purpose. */
  derive(info: string): Uint8Array;
}

/** Keys that are wrapped under a key derived from `secret.key`. */
export function contentKeys(
  { keyId, derive }: WrappingKey,
  encrypting: boolean,
  random: Random,
): ContentKeys {
  const wrapping = secretKey(derive('waybill contents'));
  const name = Buffer.from(keyId, 'hex');
  return {
    keyId,
    encrypting,
    make: () => {
      const key = random.fill(new Uint8Array(KEY_BYTES));
      const nonce = random.fill(new Uint8Array(NONCE_BYTES));
      const cipher = createCipheriv(CIPHER, wrapping, nonce).setAAD(Buffer.from(PURPOSE));
      const wrapped = Buffer.concat([name, nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
      return new SegmentKey(secretKey(key), wrapped);
    },
    unwrap: (wrapped) => {
      if (wrapped.byteLength !== WRAPPED_BYTES || wrappedUnder(wrapped) !== keyId) return null;
      const sealed = wrapped.subarray(KEY_ID_BYTES + NONCE_BYTES);
      const nonce = wrapped.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
      const key = decrypt(wrapping, nonce, Buffer.from(PURPOSE), sealed);
      return key === null ? null : new SegmentKey(secretKey(key), wrapped);
    },
  };
}

/** Makes a key, and wipes the bytes it was made of. */
function secretKey(bytes: Uint8Array): KeyObject {
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}

/** The id of the key under which a segment's key was wrapped. */
export function wrappedUnder(wrapped: Uint8Array): string {
  return Buffer.from(wrapped.subarray(0, KEY_ID_BYTES)).toString('hex');
}

/** The key of one segment. */
export class SegmentKey {
  /** As it is stored. */
  readonly wrapped: Uint8Array;
  readonly #key: KeyObject;
  /** Of the next record. Only who made the key may seal with it. */
  #next = 0;

  constructor(key: KeyObject, wrapped: Uint8Array) {
    this.#key = key;
    this.wrapped = wrapped;
  }

  /** Encrypts the bodies of records, each for its place. Waits for a turn of the event loop after each MiB. */
  async seal(
    records: readonly EncodedRecord[],
    places: readonly RecordPlace[],
    turn: Turn = yieldToLoop,
  ): Promise<EncodedRecord[]> {
    const all: EncodedRecord[] = [];
    let sinceTurn = 0;
    for (const [nth, record] of records.entries()) {
      const place = places[nth];
      if (place === undefined) throw new RangeError('a record has no place');
      const header = sealedHeader(record.header, record.bodyBytes);
      const bound = boundTo(place, header);
      const counter = Buffer.alloc(FRAMES_AT);
      counter.writeBigUInt64BE(BigInt(this.#next));
      this.#next++;
      const sealed: Uint8Array[] = [counter];
      let sum = crc32(counter, crc32(boundPart(header)));
      let frame = 0;
      for (const parts of framesIn(record.chunks)) {
        if (sinceTurn >= TURN_BYTES) {
          await turn();
          sinceTurn = 0;
        }
        for (const piece of this.#sealFrame(parts, nonceOf(counter, frame), bound)) {
          sealed.push(piece);
          sum = crc32(piece, sum);
          sinceTurn += piece.byteLength;
        }
        frame++;
      }
      all.push({
        header: withSum(header, sum),
        chunks: sealed,
        bodyBytes: sealedBytes(record.bodyBytes),
      });
    }
    return all;
  }

  /** A frame, encrypted, and its tag. */
  #sealFrame(parts: readonly Uint8Array[], nonce: Uint8Array, bound: Uint8Array): Uint8Array[] {
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(bound);
    const sealed = parts.map((part) => cipher.update(part));
    cipher.final();
    sealed.push(cipher.getAuthTag());
    return sealed;
  }

  /** Decrypts a whole body; null if it is not what was encrypted. */
  open(place: RecordPlace, header: Uint8Array, body: Uint8Array): Buffer | null {
    if (body.byteLength !== bodyBytesOf(header)) return null;
    const opened = this.openFrames(place, header, body.subarray(0, FRAMES_AT), body.subarray(FRAMES_AT), 0);
    return opened === null ? null : joined(opened);
  }

  /** Decrypts consecutive frames, from that number on; null if they are not what was encrypted. */
  openFrames(
    place: RecordPlace,
    header: Uint8Array,
    counter: Uint8Array,
    frames: Uint8Array,
    first: number,
  ): Buffer[] | null {
    const bound = boundTo(place, header);
    const opened: Buffer[] = [];
    for (let at = 0, frame = first; at === 0 || at < frames.byteLength; at += SEALED_FRAME_BYTES, frame++) {
      const sealed = frames.subarray(at, at + SEALED_FRAME_BYTES);
      const plain = decrypt(this.#key, nonceOf(counter, frame), bound, sealed);
      if (plain === null) return null;
      opened.push(plain);
    }
    return opened;
  }
}

/** Frames that are decrypted at once. */
const FRAMES_AT_ONCE = 4;

/** What reading a part of an encrypted body takes. */
export interface SealedBody {
  readonly key: SegmentKey;
  readonly place: RecordPlace;
  readonly header: Uint8Array;
  readonly plainBytes: number;
  /** Reads bytes of the body as stored. */
  readonly read: (at: number, length: number) => Promise<Uint8Array>;
  /** The error for a frame that is not what was encrypted. */
  readonly damaged: () => Error;
}

/** Reads a part of an encrypted body, piece by piece, each checked before it is given. Throws `damaged`. */
export async function* openPart(body: SealedBody, start: number, length: number): AsyncIterable<Uint8Array> {
  const { key, place, header, plainBytes, read, damaged } = body;
  const end = start + length;
  if (end > plainBytes) throw damaged();
  const counter = await read(0, FRAMES_AT);
  const bodyEnd = sealedBytes(plainBytes);
  const first = Math.floor(start / FRAME_BYTES);
  for (let frame = first; frame * FRAME_BYTES < end; frame += FRAMES_AT_ONCE) {
    const at = FRAMES_AT + frame * SEALED_FRAME_BYTES;
    const frames = Math.min(FRAMES_AT_ONCE, Math.ceil(end / FRAME_BYTES) - frame);
    const sealed = await read(at, Math.min(frames * SEALED_FRAME_BYTES, bodyEnd - at));
    const opened = key.openFrames(place, header, counter, sealed, frame);
    if (opened === null) throw damaged();
    const from = frame * FRAME_BYTES;
    yield joined(opened).subarray(Math.max(0, start - from), end - from);
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

/** The place, and all that a header says, which a frame is encrypted for. */
function boundTo({ segment, offset }: RecordPlace, header: Uint8Array): Uint8Array {
  const part = boundPart(header);
  const bound = Buffer.alloc(part.byteLength + 16);
  bound.set(part);
  bound.writeBigUInt64BE(BigInt(segment), part.byteLength);
  bound.writeBigUInt64BE(BigInt(offset), part.byteLength + 8);
  return bound;
}

function nonceOf(counter: Uint8Array, frame: number): Uint8Array {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.set(counter);
  nonce.writeUInt32BE(frame, FRAMES_AT);
  return nonce;
}

/** The chunks, cut into frames without copying; one empty frame for no bytes. */
function* framesIn(chunks: readonly Uint8Array[]): Iterable<readonly Uint8Array[]> {
  let frame: Uint8Array[] = [];
  let size = 0;
  let any = false;
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; ) {
      const part = chunk.subarray(at, at + FRAME_BYTES - size);
      frame.push(part);
      size += part.byteLength;
      at += part.byteLength;
      if (size < FRAME_BYTES) continue;
      yield frame;
      any = true;
      frame = [];
      size = 0;
    }
  }
  if (size > 0 || !any) yield frame;
}

/** What was encrypted, its tag last; null if it was not encrypted so. */
function decrypt(key: KeyObject, nonce: Uint8Array, bound: Uint8Array, sealed: Uint8Array): Buffer | null {
  if (sealed.byteLength < TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(bound).setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const plain = decipher.update(sealed.subarray(0, -TAG_BYTES));
    decipher.final();
    return plain;
  } catch {
    return null;
  }
}
