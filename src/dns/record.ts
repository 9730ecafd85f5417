/** The records of a DNS message: RFC 1035 §3.2, 3596 (AAAA), 6698 (TLSA). */
import type { RecordData, RecordType } from './resolver.ts';
import { Malformed, type WireReader } from './wire.ts';

/** Numbers of the types that are asked for. */
export const TYPE_NUMBERS: Readonly<Record<RecordType, number>> = {
  A: 1,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  TLSA: 52,
};

/** What else is understood, in answers. */
const OTHER_NUMBERS = { NS: 2, CNAME: 5, SOA: 6, OPT: 41 } as const;
const CLASS_IN = 1;

/** What a record holds. `other` is of a type or class that says nothing to us. */
export type RecordContent =
  | { readonly [T in RecordType]: { readonly type: T; readonly data: RecordData[T] } }[RecordType]
  | { readonly type: 'CNAME'; readonly data: string }
  /** The last field of the record: for how many seconds a negative answer may be kept (RFC 2308 §4). */
  | { readonly type: 'SOA'; readonly data: number }
  /** The upper eight bits of the response code (RFC 6891 §6.1.3). */
  | { readonly type: 'OPT'; readonly data: number }
  | { readonly type: 'NS' | 'other' };

/** One record. */
export type DnsRecord = RecordContent & {
  /** Lower case, without the last dot. */
  readonly name: string;
  /** In seconds. With its first bit set it counts as 0 (RFC 2181 §8). */
  readonly ttl: number;
};

/** Reads the next record, whole. Throws {@link Malformed}. */
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

/** One octet is one character, whatever it means. */
function readStrings(reader: WireReader, end: number): string {
  const strings: string[] = [];
  while (reader.offset < end) strings.push(reader.take(reader.u8()).toString('latin1'));
  // Joined, and not added up: a sum of strings keeps all its parts.
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
