/** Bytes of a DNS message, read with every bound checked (RFC 1035 §4.1). */

/** What is wrong with a message. Thrown by {@link WireReader}, caught where a message is parsed. */
export class Malformed extends Error {}

/** RFC 1035 §2.3.4: octets of a name, with the lengths of its labels. */
const MAX_NAME_BYTES = 255;
const POINTER = 0xc0;
/** Pointers behind one another that lead to a name. No longer chain can be of use: a name has at most 127 labels. */
const MAX_HOPS = 127;

/** A name that was read. */
interface WireName {
  readonly asWritten: string;
  readonly lower: string;
  /** Octets it would have without pointers. */
  readonly octets: number;
  /** Pointers that led to its end. */
  readonly hops: number;
  /** Where what follows it begins. */
  readonly end: number;
}

/**
 * Reads a message from front to back. Throws {@link Malformed}, and nothing else. What many names point to is read
 * once, and they share its text: a message of 64 KiB may point to a long name thousands of times.
 */
export class WireReader {
  readonly #bytes: Buffer;
  /** Names that were pointed to, by where they begin. */
  readonly #pointedTo = new Map<number, WireName>();
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

  /** A name in lower case, without the last dot; '' is the root. See {@link nameAsWritten}. */
  name(): string {
    return this.#name().lower;
  }

  /**
   * A name in the case in which it came. What is no letter, digit, `-` or `_` is written `\DDD`, so that a dot within a
   * label is never taken for one between labels. A pointer must lead to before where the present run of labels began,
   * so that no message can make the reading go round.
   */
  nameAsWritten(): string {
    return this.#name().asWritten;
  }

  #name(): WireName {
    const name = this.#nameAt(this.offset, 0);
    this.offset = name.end;
    return name;
  }

  /** The name that begins at `start`, to which `hops` pointers led. */
  #nameAt(start: number, hops: number): WireName {
    let written = '';
    let octets = 1;
    this.offset = start;
    for (;;) {
      const length = this.u8();
      if (length === 0) return nameOf(written, { octets, hops: 0, end: this.offset });
      if (length >= POINTER) {
        const target = ((length & ~POINTER) << 8) | this.u8();
        const end = this.offset;
        if (target >= start) throw new Malformed('a compression pointer leads forward');
        const rest = this.#nameBehind(target, hops + 1);
        octets += rest.octets - 1;
        if (octets > MAX_NAME_BYTES) throw new Malformed('a name is longer than 255 octets');
        return nameOf(written, { octets, hops: rest.hops + 1, end }, rest);
      }
      if (length > 63) throw new Malformed('a label of unknown kind');
      octets += length + 1;
      if (octets > MAX_NAME_BYTES) throw new Malformed('a name is longer than 255 octets');
      if (written !== '') written += '.';
      const end = this.#take(length) + length;
      for (let place = end - length; place < end; place++) written += WRITTEN[this.#bytes[place] ?? 0];
    }
  }

  #nameBehind(target: number, hops: number): WireName {
    const known = this.#pointedTo.get(target);
    if (hops + (known?.hops ?? 0) > MAX_HOPS) throw new Malformed('a name is behind too many pointers');
    if (known !== undefined) return known;
    const name = this.#nameAt(target, hops);
    this.#pointedTo.set(target, name);
    return name;
  }

  #take(length: number): number {
    const start = this.offset;
    if (start + length > this.#bytes.length) throw new Malformed('it ends early');
    this.offset = start + length;
    return start;
  }
}

/** A name of its first labels, and of the name that they stand before. */
function nameOf(front: string, where: Pick<WireName, 'octets' | 'hops' | 'end'>, rest?: WireName): WireName {
  if (rest !== undefined && front === '') return { ...rest, ...where };
  const asWritten = rest === undefined || rest.asWritten === '' ? front : `${front}.${rest.asWritten}`;
  return { ...where, asWritten, lower: asWritten.toLowerCase() };
}

/** Each octet as it is written within a name. */
const WRITTEN = Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet);
  return /[A-Za-z0-9_-]/.test(character) ? character : `\\${String(octet).padStart(3, '0')}`;
});
