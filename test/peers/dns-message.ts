/** DNS messages as a server reads and writes them, made apart from the code under test. */
import type { RecordData } from '../../src/dns/resolver.ts';

/** A query as it came. */
export interface DnsQuery {
  readonly id: number;
  /** In the case in which it came. */
  readonly name: string;
  /** `TYPE257` for what is not known here. */
  readonly type: string;
  readonly edns: boolean;
  /** The asker wants to know whether the answer was validated. */
  readonly ad: boolean;
  /** The question's bytes. */
  readonly question: Buffer;
}

/** Data of a record, by type, with those that only servers speak of. */
export interface ZoneData extends RecordData {
  readonly CNAME: string;
  readonly SOA: { readonly minimum: number };
  readonly NS: string;
}

/** One record of an answer. */
export type ZoneRecord = {
  readonly [T in keyof ZoneData]: {
    readonly name: string;
    readonly ttl: number;
    readonly type: T;
    readonly data: ZoneData[T];
  };
}[keyof ZoneData];

/** What a response holds. */
export interface DnsContent {
  readonly code: number;
  readonly truncated?: boolean;
  readonly authenticated?: boolean;
  readonly recursionAvailable?: boolean;
  readonly answers: readonly ZoneRecord[];
  readonly authorities: readonly ZoneRecord[];
}

const NUMBERS: Readonly<Record<keyof ZoneData, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  TLSA: 52,
};

/** Reads a query. */
export function readQuery(bytes: Buffer): DnsQuery {
  const labels: string[] = [];
  let at = 12;
  for (let length = bytes.readUInt8(at); length > 0; length = bytes.readUInt8(at)) {
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const number = bytes.readUInt16BE(at + 1);
  const known = Object.entries(NUMBERS).find(([, value]) => value === number);
  return {
    id: bytes.readUInt16BE(0),
    name: labels.join('.'),
    type: known?.[0] ?? `TYPE${number}`,
    edns: bytes.readUInt16BE(10) > 0,
    ad: (bytes.readUInt16BE(2) & 0x20) !== 0,
    question: bytes.subarray(12, at + 5),
  };
}

/** Writes a response to a query, names compressed (RFC 1035 §4.1.4). */
export function writeResponse(query: DnsQuery, content: DnsContent): Buffer {
  const flags =
    0x8100 |
    (content.truncated ? 0x0200 : 0) |
    (content.recursionAvailable === false ? 0 : 0x0080) |
    (content.authenticated ? 0x0020 : 0) |
    (content.code & 0xf);
  const counts = [1, content.answers.length, content.authorities.length, query.edns ? 1 : 0];
  const writer = new Writer();
  writer.u16(query.id, flags, ...counts);
  writer.bytes(query.question);
  for (const record of [...content.answers, ...content.authorities]) writeRecord(writer, record);
  if (query.edns) {
    writer.bytes(Buffer.of(0));
    writer.u16(41, 1232, (content.code >> 4) << 8, 0, 0);
  }
  return writer.whole();
}

/** A message as it goes over TCP, its length in front. */
export function framed(answer: Buffer): Buffer {
  return Buffer.concat([Buffer.of(answer.length >> 8, answer.length & 0xff), answer]);
}

/** The same content, as what did not fit. */
export function cutOff(content: DnsContent): DnsContent {
  return { ...content, truncated: true, answers: [], authorities: [] };
}

function writeRecord(writer: Writer, record: ZoneRecord): void {
  writer.name(record.name);
  writer.u16(NUMBERS[record.type], 1);
  writer.u32(record.ttl);
  const lengthAt = writer.length;
  writer.u16(0);
  writeData(writer, record);
  writer.patch(lengthAt, writer.length - lengthAt - 2);
}

function writeData(writer: Writer, record: ZoneRecord): void {
  switch (record.type) {
    case 'MX':
      writer.u16(record.data.preference);
      writer.name(record.data.exchange);
      break;
    case 'SOA':
      writer.name('ns.invalid');
      writer.name('hostmaster.invalid');
      // serial, refresh, retry, expire
      for (const seconds of [1, 3600, 600, 7200, record.data.minimum]) writer.u32(seconds);
      break;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      writer.name(record.data);
      break;
    default:
      writer.bytes(plainData(record));
  }
}

/** Data without names in it. */
function plainData(record: Extract<ZoneRecord, { type: 'A' | 'AAAA' | 'TXT' | 'TLSA' }>): Buffer {
  switch (record.type) {
    case 'A':
      return Buffer.from(record.data.split('.').map(Number));
    case 'AAAA':
      return ipv6(record.data);
    case 'TXT': {
      const parts = record.data.match(/.{1,255}/gs) ?? [''];
      return Buffer.concat(parts.flatMap((part) => [Buffer.of(part.length), Buffer.from(part, 'latin1')]));
    }
    case 'TLSA': {
      const { usage, selector, matchingType, data } = record.data;
      return Buffer.concat([Buffer.of(usage, selector, matchingType), Buffer.from(data, 'hex')]);
    }
  }
}

function ipv6(text: string): Buffer {
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const front = groups(head);
  const back = groups(tail ?? '');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  const all = [...front, ...(tail === undefined ? [] : zeros), ...back];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

class Writer {
  #bytes = Buffer.alloc(0);
  readonly #places = new Map<string, number>();

  get length(): number {
    return this.#bytes.length;
  }

  bytes(more: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, more]);
  }

  u16(...values: readonly number[]): void {
    this.bytes(Buffer.from(values.flatMap((value) => [value >> 8, value & 0xff])));
  }

  u32(value: number): void {
    this.u16(value >>> 16, value & 0xffff);
  }

  patch(at: number, value: number): void {
    this.#bytes.writeUInt16BE(value, at);
  }

  /** Labels, until the rest stands somewhere already. */
  name(text: string): void {
    const labels = text === '' ? [] : text.split('.');
    for (let i = 0; i < labels.length; i++) {
      const rest = labels.slice(i).join('.');
      const place = this.#places.get(rest);
      if (place !== undefined) {
        this.u16(0xc000 | place);
        return;
      }
      if (this.length < 0x4000) this.#places.set(rest, this.length);
      const label = Buffer.from(labels[i] ?? '', 'latin1');
      this.bytes(Buffer.concat([Buffer.of(label.length), label]));
    }
    this.bytes(Buffer.of(0));
  }

  whole(): Buffer {
    return this.#bytes;
  }
}
