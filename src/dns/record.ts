import type { RecordData, RecordType } from './resolver.ts';

/** Parses the records of a DNS message: RFC 1035 §3.2, 3596 (AAAA), 6698 (TLSA). */

/** Numbers of the types that can be queried. */
export const TYPE_NUMBERS: Readonly<Record<RecordType, number>> = {
  A: 1,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  TLSA: 52,
};

/** Other types understood in answers. */
const OTHER_NUMBERS = { NS: 2, CNAME: 5, SOA: 6, OPT: 41 } as const;
const CLASS_IN = 1;

/** A record's content. `other`: an irrelevant type or class. */
export type RecordContent =
  | { readonly [T in RecordType]: { readonly type: T; readonly data: RecordData[T] } }[RecordType]
  | { readonly type: 'CNAME'; readonly data: string }
  /** The last field of the record: the seconds for which a negative answer may be cached (RFC 2308 §4). */
  | { readonly type: 'SOA'; readonly data: number }
  /** The upper eight bits of the response code (RFC 6891 §6.1.3). */
  | { readonly type: 'OPT'; readonly data: number }
  | { readonly type: 'NS' | 'other' };

/** One record. */
export type DnsRecord = RecordContent & {
  /** Lower case, without the trailing dot. */
  readonly name: string;
  /** In seconds. Counts as 0 if its first bit is set (RFC 2181 §8). */
  readonly ttl: number;
};

/** Reads the whole next record. Throws {@link Malformed}. */
export function readRecord(reader: WireReader): DnsRecord {
  const name = reader.name();
  const type = reader.u16();
  const recordClass = reader.u16();
  const ttl = reader.u32();
  const length = reader.u16();
  const end = reader.offset + length;
  const content = readContent(reader, type, recordClass, ttl, end);
  if (reader.offset !== end) throw new Malformed('the data of a record is longer or shorter than it says');
  return { ...content, name, ttl: ttl > 0x7fff_ffff ? 0 : ttl };
}

function readContent(
  reader: WireReader,
  type: number,
  recordClass: number,
  ttl: number,
  end: number,
): RecordContent {
  const rest = () => reader.take(Math.max(0, end - reader.offset));
  if (type === OTHER_NUMBERS.OPT) {
    rest();
    return { type: 'OPT', data: ttl >>> 24 };
  }
  if (recordClass !== CLASS_IN) {
    rest();
    return { type: 'other' };
  }
  switch (type) {
    case TYPE_NUMBERS.A:
      return { type: 'A', data: reader.take(4).join('.') };
    case TYPE_NUMBERS.AAAA:
      return { type: 'AAAA', data: ipv6Text(reader.take(16)) };
    case TYPE_NUMBERS.MX:
      return { type: 'MX', data: { preference: reader.u16(), exchange: reader.name() } };
    case TYPE_NUMBERS.TXT:
      return { type: 'TXT', data: readStrings(reader, end) };
    case TYPE_NUMBERS.PTR:
      return { type: 'PTR', data: reader.name() };
    case TYPE_NUMBERS.TLSA:
      return {
        type: 'TLSA',
        data: {
          usage: reader.u8(),
          selector: reader.u8(),
          matchingType: reader.u8(),
          data: rest().toString('hex'),
        },
      };
    case OTHER_NUMBERS.CNAME:
      return { type: 'CNAME', data: reader.name() };
    case OTHER_NUMBERS.SOA:
      return { type: 'SOA', data: readMinimum(reader) };
    default:
      rest();
      return { type: type === OTHER_NUMBERS.NS ? 'NS' : 'other' };
  }
}

/** One octet is one character, whatever its meaning. */
function readStrings(reader: WireReader, end: number): string {
  const strings: string[] = [];
  while (reader.offset < end) strings.push(reader.take(reader.u8()).toString('latin1'));
  // Joined, not added: a sum of strings keeps all its parts in memory.
  return strings.join('');
}

function readMinimum(reader: WireReader): number {
  reader.name();
  reader.name();
  reader.take(16);
  return reader.u32();
}

/** Its shortest form (RFC 5952). */
function ipv6Text(octets: Buffer): string {
  const groups = octets.toString('hex').match(/.{4}/g) ?? [];
  return URL.parse(`http://[${groups.join(':')}]/`)?.hostname.slice(1, -1) ?? groups.join(':');
}

// Reads the bytes of a DNS message with every bound checked (RFC 1035 §4.1).

/** A malformed message. Thrown by {@link WireReader}, caught where a message is parsed. */
export class Malformed extends Error {}

/** RFC 1035 §2.3.4: octets of a name, with the lengths of its labels. */
const MAX_NAME_BYTES = 255;
const POINTER = 0xc0;
/** Longest chain of pointers in a name. No longer chain is useful: a name has at most 127 labels. */
const MAX_HOPS = 127;

interface WireName {
  readonly asWritten: string;
  readonly lower: string;
  /** Its octets without compression. */
  readonly octets: number;
  /** Pointers followed to its end. */
  readonly hops: number;
  /** The offset after it. */
  readonly end: number;
}

/**
 * Reads a message from front to back. Throws only {@link Malformed}. A name that many pointers refer to is read once,
 * and its text shared: a message of 64 KiB may point to a long name thousands of times.
 */
export class WireReader {
  readonly #bytes: Buffer;
  /** Names already pointed to, by their offset. */
  readonly #pointedTo = new Map<number, WireName>();
  /** The offset of the next read. */
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

  /** `length` octets, as a view. */
  take(length: number): Buffer {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** A name in lower case, without the trailing dot; '' is the root. See {@link nameAsWritten}. */
  name(): string {
    return this.#name().lower;
  }

  /**
   * A name in its original case. Anything but letters, digits, `-` and `_` is written `\DDD`, so that a dot inside a
   * label cannot be taken for a separator. A pointer must lead to before the start of the current run of labels, so
   * that no message can cause a loop.
   */
  nameAsWritten(): string {
    return this.#name().asWritten;
  }

  #name(): WireName {
    const name = this.#nameAt(this.offset, 0);
    this.offset = name.end;
    return name;
  }

  /** The name at `start`, reached through `hops` pointers. */
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

/** A name made of its first labels and the name that follows them. */
function nameOf(front: string, where: Pick<WireName, 'octets' | 'hops' | 'end'>, rest?: WireName): WireName {
  if (rest !== undefined && front === '') return { ...rest, ...where };
  const asWritten = rest === undefined || rest.asWritten === '' ? front : `${front}.${rest.asWritten}`;
  return { ...where, asWritten, lower: asWritten.toLowerCase() };
}

/** The notation of each octet in a name. */
const WRITTEN = Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet);
  return /[A-Za-z0-9_-]/.test(character) ? character : `\\${String(octet).padStart(3, '0')}`;
});
