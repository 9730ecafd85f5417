import { type DnsRecord, Malformed, readRecord, TYPE_NUMBERS, WireReader } from './record.ts';
import type { DnsAnswer, DnsFailure, RecordData, RecordType } from './resolver.ts';

/** Encodes queries and parses responses (RFC 1035 §4, EDNS of RFC 6891). */

/** Crosses every network without fragmentation (the DNS flag day of 2020). */
const EDNS_BYTES = 1232;
/** Most records of a message, in all sections. No mail depends on more, and reading them would take time. */
export const MAX_RECORDS = 512;
const HEADER_BYTES = 12;
const CLASS_IN = 1;
const TYPE_OPT = 41;
const FLAG = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
} as const;
const FLAG_LOW = { recursionAvailable: 0x0080, authenticated: 0x0020 } as const;
const OPCODE = 0x7800;

/** One query. */
export interface Query {
  /** 16 random bits. */
  readonly id: number;
  /** A name of `parseQueryName`, its letters in the case of {@link mixCase}. */
  readonly name: string;
  readonly type: RecordType;
  /** With EDNS; without for servers that do not know it. */
  readonly edns: boolean;
  /**
   * Ask whether the answer was validated (AD, RFC 6840 §5.7). DO is never set: signatures, which nobody here reads,
   * would make answers too large for a datagram.
   */
  readonly ad: boolean;
}

/** A response, its records in order. */
export interface DnsResponse {
  readonly id: number;
  /** RFC 1035 §4.1.1, with the upper bits from EDNS. */
  readonly code: number;
  /** The response was cut off, and has no records here. */
  readonly truncated: boolean;
  readonly authoritative: boolean;
  readonly recursionAvailable: boolean;
  /** AD: the server says that it validated the answer. */
  readonly authenticated: boolean;
  /** The question, letter case preserved; null if the server left it out. */
  readonly question: { readonly name: string; readonly type: number } | null;
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
}

/** The bytes of a recursive query. */
export function encodeQuery(query: Query): Buffer {
  const labels = query.name.split('.').map((label) => Buffer.from(label, 'latin1'));
  const name = labels.flatMap((label) => [Buffer.of(label.length), label]);
  const flags = FLAG.recursionDesired | (query.ad ? FLAG_LOW.authenticated : 0);
  const additional = query.edns ? [Buffer.of(0), u16(TYPE_OPT, EDNS_BYTES, 0, 0, 0)] : [];
  return Buffer.concat([
    u16(query.id, flags, 1, 0, 0, query.edns ? 1 : 0),
    ...name,
    Buffer.of(0),
    u16(TYPE_NUMBERS[query.type], CLASS_IN),
    ...additional,
  ]);
}

/**
 * A response, or why the bytes are not one. Never throws. Reads at most {@link MAX_RECORDS} records with names of 255
 * octets, whatever the bytes point to: a few milliseconds.
 */
export function parseResponse(
  bytes: Uint8Array,
): { readonly ok: true; readonly response: DnsResponse } | { readonly ok: false; readonly reason: string } {
  try {
    return { ok: true, response: readResponse(bytes) };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, reason: error.message };
    throw error;
  }
}

/** Whether a response answers a query: same id and question. `exactCase` requires the same letter case (0x20) too. */
export function answers(query: Query, response: DnsResponse, exactCase: boolean): boolean {
  if (response.id !== query.id) return false;
  const { question } = response;
  // Some servers omit the question if they did not understand it.
  if (question === null) return response.code === CODE.formatError || response.code === CODE.notImplemented;
  const isSame = exactCase
    ? question.name === query.name
    : question.name.toLowerCase() === query.name.toLowerCase();
  return isSame && question.type === TYPE_NUMBERS[query.type];
}

/** The relevant response codes (RFC 1035 §4.1.1). */
export const CODE = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  noSuchName: 3,
  notImplemented: 4,
  refused: 5,
} as const;

/** Sets the case of each letter of a name by one bit of `bits`, starting with the first (0x20). */
export function mixCase(name: string, bits: Uint8Array): string {
  return name.replace(/[a-z]/g, (letter, index: number) =>
    ((bits[(index >> 3) % bits.length] ?? 0) >> (index & 7)) & 1 ? letter.toUpperCase() : letter,
  );
}

function readResponse(bytes: Uint8Array): DnsResponse {
  if (bytes.length < HEADER_BYTES) throw new Malformed('it is shorter than a header');
  const reader = new WireReader(bytes);
  const id = reader.u16();
  const flags = reader.u16();
  if ((flags & FLAG.response) === 0) throw new Malformed('it is not a response');
  if ((flags & OPCODE) !== 0) throw new Malformed('it answers something that is not a query');
  const counts = [reader.u16(), reader.u16(), reader.u16(), reader.u16()] as const;
  const truncated = (flags & FLAG.truncated) !== 0;
  if (!truncated && counts[1] + counts[2] + counts[3] > MAX_RECORDS)
    throw new Malformed(`it has more than ${MAX_RECORDS} records`);
  const question = readQuestion(reader, counts[0]);
  // A truncated response may be cut off anywhere, and the query is repeated.
  const sections = truncated ? [] : counts.slice(1).map((count) => readRecords(reader, count));
  const [answerRecords = [], authorities = [], additional = []] = sections;
  const high = additional.find(({ type }) => type === 'OPT');
  return {
    id,
    code: (flags & 0xf) | (high?.type === 'OPT' ? high.data << 4 : 0),
    truncated,
    authoritative: (flags & FLAG.authoritative) !== 0,
    recursionAvailable: (flags & FLAG_LOW.recursionAvailable) !== 0,
    authenticated: (flags & FLAG_LOW.authenticated) !== 0,
    question,
    answers: answerRecords,
    authorities,
  };
}

function readQuestion(reader: WireReader, count: number): DnsResponse['question'] {
  if (count === 0) return null;
  if (count > 1) throw new Malformed('it has more than one question');
  const name = reader.nameAsWritten();
  const type = reader.u16();
  if (reader.u16() !== CLASS_IN) throw new Malformed('its question has another class');
  return { name, type };
}

/** A false count ends with the bytes. */
function readRecords(reader: WireReader, count: number): DnsRecord[] {
  const records: DnsRecord[] = [];
  for (let i = 0; i < count; i++) records.push(readRecord(reader));
  return records;
}

function u16(...values: readonly number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 0xff]));
}

// The answer in a response: follows aliases, limits times to live, distinguishes negative answers (RFC 2308).

/** The longest chain of aliases to follow, within an answer and over several. */
export const MAX_ALIASES = 10;
/** An answer is used for at most a day, and at least a second, whatever it says. */
const MAX_TTL_SECONDS = 86_400;
/** RFC 2308 §5: an hour to three for negative answers. */
const MAX_NEGATIVE_TTL_SECONDS = 3600;
const MIN_TTL_SECONDS = 1;

/** The content of a response. `alias`: the name is an alias of another, which must be asked for. */
export type Reading<T extends RecordType> =
  | DnsAnswer<T>
  | {
      readonly kind: 'alias';
      readonly target: string;
      readonly authenticated: boolean;
      readonly ttlSeconds: number;
    };

/**
 * Reads the answer for `name` (lower case) from a response known to answer it. Ignores unrequested records of other
 * names and types. `trusted`: AD counts.
 */
export function readAnswer<T extends RecordType>(
  response: DnsResponse,
  name: string,
  type: T,
  trusted: boolean,
): Reading<T> {
  const { code } = response;
  if (code !== CODE.noError && code !== CODE.noSuchName) return refusal(code);
  const authenticated = trusted && response.authenticated;
  const chain = followAliases(response.answers, name);
  if (chain === null)
    return failed('dns_malformed', `gives aliases of ${name} that form a loop or are too many`);
  const found = recordsOf(response.answers, chain.name, type);
  if (found.length > 0 && code === CODE.noError) {
    const ttl = Math.min(chain.ttl, ...found.map((record) => record.ttl));
    const records = found.map(({ data }) => data);
    const ttlSeconds = Math.max(MIN_TTL_SECONDS, ttl);
    return { kind: 'found', records, canonicalName: chain.name, authenticated, ttlSeconds };
  }
  const soa = response.authorities.find((record) => record.type === 'SOA');
  if (code === CODE.noError && soa === undefined) {
    if (isReferral(response)) return failed('dns_refused', 'does not ask others (no recursion)');
    if (chain.name !== name)
      return {
        kind: 'alias',
        target: chain.name,
        authenticated,
        ttlSeconds: Math.max(MIN_TTL_SECONDS, chain.ttl),
      };
  }
  // Without SOA a negative answer has no lifetime (RFC 2308 §5).
  const negative = soa?.type === 'SOA' ? Math.min(soa.ttl, soa.data, MAX_NEGATIVE_TTL_SECONDS) : 0;
  const ttlSeconds = Math.max(MIN_TTL_SECONDS, Math.min(negative, chain.ttl));
  return { kind: code === CODE.noSuchName ? 'nxdomain' : 'nodata', authenticated, ttlSeconds };
}

function followAliases(
  answers: readonly DnsRecord[],
  asked: string,
): { readonly name: string; readonly ttl: number } | null {
  let name = asked;
  let ttl = MAX_TTL_SECONDS;
  for (let steps = 0; steps <= MAX_ALIASES; steps++) {
    const alias = answers.find((record) => record.type === 'CNAME' && record.name === name);
    if (alias?.type !== 'CNAME') return { name, ttl };
    name = alias.data;
    ttl = Math.min(ttl, alias.ttl);
  }
  return null;
}

function recordsOf<T extends RecordType>(
  answers: readonly DnsRecord[],
  name: string,
  type: T,
): { readonly data: RecordData[T]; readonly ttl: number }[] {
  return answers.flatMap((record) => (record.name === name && isOf(record, type) ? [record] : []));
}

function isOf<T extends RecordType>(
  record: DnsRecord,
  type: T,
): record is DnsRecord & { readonly type: T; readonly data: RecordData[T] } {
  return record.type === type;
}

/** A server that only knows its own zones refers to others, which does not say whether there is a record. */
function isReferral({ authoritative, recursionAvailable, authorities }: DnsResponse): boolean {
  return !authoritative && !recursionAvailable && authorities.some(({ type }) => type === 'NS');
}

function refusal(code: number): Reading<never> {
  return code === CODE.serverFailure
    ? failed('dns_servfail', 'could not find out (SERVFAIL)')
    : failed('dns_refused', code === CODE.refused ? 'refuses (REFUSED)' : `says code ${code}`);
}

/** Why nothing is known, as a code and as text fit for a log line. */
export function failed(cause: DnsFailure, text: string): { kind: 'failed'; cause: DnsFailure; text: string } {
  return { kind: 'failed', cause, text };
}
