/** Bytes of a DNS message, read with every bound checked (RFC 1035 §4.1). */

/** What is wrong with a message. Thrown by {@link WireReader}, caught where a message is parsed. */
export class Malformed extends Error {}

/** RFC 1035 §2.3.4: octets of a name, with the lengths of its labels. */
const MAX_NAME_BYTES = 255;
const POINTER = 0xc0;

/** Reads a message from front to back. Throws {@link Malformed}, and nothing else. */
export class WireReader {
  readonly #bytes: Buffer;
  /** Where the next read begins. */
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.offset = offset;
  }

  /** One octet. */
  u8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  /** Two octets. */
  u16(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  /** Four octets. */
  u32(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  /** So many octets, as a view. */
  take(length: number): Buffer {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /**
   * A name in the case in which it came, without the last dot; '' is the root. What is no letter, digit, `-` or `_` is
   * written `\DDD`, so that a dot within a label is never taken for one between labels. A pointer must lead to before
   * where the present run of labels began, so that no message can make the reading go round.
   */
  name(): string {
    const labels: string[] = [];
    let octets = 1;
    let runStart = this.offset;
    let end: number | null = null;
    for (;;) {
      const length = this.u8();
      if (length === 0) break;
      if (length >= POINTER) {
        const target = ((length & ~POINTER) << 8) | this.u8();
        end ??= this.offset;
        if (target >= runStart) throw new Malformed('a compression pointer leads forward');
        runStart = target;
        this.offset = target;
        continue;
      }
      if (length > 63) throw new Malformed('a label of unknown kind');
      octets += length + 1;
      if (octets > MAX_NAME_BYTES) throw new Malformed('a name is longer than 255 octets');
      labels.push(labelText(this.take(length)));
    }
    if (end !== null) this.offset = end;
    return labels.join('.');
  }

  #take(length: number): number {
    const start = this.offset;
    if (start + length > this.#bytes.length) throw new Malformed('it ends early');
    this.offset = start + length;
    return start;
  }
}

function labelText(label: Buffer): string {
  return label
    .toString('latin1')
    .replace(/[^A-Za-z0-9_-]/g, (character) => `\\${String(character.charCodeAt(0)).padStart(3, '0')}`);
}
