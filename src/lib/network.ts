import { BlockList, isIP, isIPv4 } from 'node:net';

/** A set of address ranges (RFC 4632). */
export interface CidrSet {
  /** Whether an address (IPv4, IPv6 or IPv4-mapped) is in one of the ranges. False for anything else. */
  contains(address: string): boolean;
}

/** The result of {@link parseCidrs}: the set, or the first invalid entry, and why. */
export type CidrsResult =
  | { readonly ok: true; readonly cidrs: CidrSet }
  | { readonly ok: false; readonly entry: string; readonly reason: string };

/** A range: the first bits of an address, as bytes (4 or 16). */
interface Range {
  readonly network: Uint8Array;
  readonly bits: number;
}

const MAX_REMEMBERED = 1_000;
const CIDR = /^([0-9a-fA-F.:]+)(?:\/(0|[1-9][0-9]{0,2}))?$/;
/** The first 12 bytes of an IPv4-mapped address (RFC 4291 §2.5.5.2), and how sockets write them. */
const IPV4_MAPPED = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff);
const WRITTEN_MAPPED = '::ffff:';

/**
 * Parses addresses and ranges such as `10.0.0.0/8` or `fd00::/8`. A bare address is a range of one. Bits set after the
 * prefix are refused: `10.1.2.3/8` may as well mean one host as a network.
 */
export function parseCidrs(list: readonly string[]): CidrsResult {
  const ranges: Range[] = [];
  for (const entry of list) {
    const range = parseRange(entry);
    if (typeof range === 'string') return { ok: false, entry, reason: range };
    ranges.push(range);
  }
  return { ok: true, cidrs: { contains: remembered((address) => inAny(ranges, address)) } };
}

/** Whether an address is this machine's own loopback. False for anything else, such as a range. */
export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && LOOPBACK.some((range) => overlap(range, address));
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** Whether two ranges have an address in common. False for invalid ranges. */
export function overlap(a: string, b: string): boolean {
  const first = parseRange(a);
  const second = parseRange(b);
  if (typeof first === 'string' || typeof second === 'string') return false;
  return inRange(first, second.network) || inRange(second, first.network);
}

/** The family of an address; null if it is invalid. */
export function familyOf(address: string): 4 | 6 | null {
  const family = isIP(address);
  return family === 4 || family === 6 ? family : null;
}

/** Whether two addresses of one family agree in their first `bits`. False for invalid addresses. */
export function sameNetwork(a: string, b: string, bits: number): boolean {
  const [first, second] = [addressBytes(normaliseAddress(a)), addressBytes(normaliseAddress(b))];
  if (first === null || second?.length !== first.length || bits > first.length * 8) return false;
  return first.every((byte, i) => (byte & byteMask(bits, i)) === ((second[i] ?? 0) & byteMask(bits, i)));
}

/** Clients come back, so the answers for the last addresses are cached. */
function remembered<T>(ask: (address: string) => T): (address: string) => T {
  let answers = new Map<string, T>();
  return (address) => {
    const known = answers.get(address);
    if (known !== undefined) return known;
    if (answers.size >= MAX_REMEMBERED) answers = new Map();
    const answer = ask(address);
    answers.set(address, answer);
    return answer;
  };
}

/**
 * An address as compared and shown: an IPv4-mapped one in any form (`::ffff:192.0.2.1`, `::ffff:c000:201`) is
 * `192.0.2.1`, and a zone (`%eth0`) is omitted.
 */
export function normaliseAddress(address: string): string {
  // As sockets write it, on every connection.
  if (address.startsWith(WRITTEN_MAPPED)) {
    const mapped = address.slice(WRITTEN_MAPPED.length);
    if (isIPv4(mapped)) return mapped;
  }
  const zone = address.indexOf('%');
  const plain = zone < 0 ? address : address.slice(0, zone);
  const bytes = plain.includes(':') ? addressBytes(plain) : null;
  return bytes !== null && isMapped(bytes) ? bytes.subarray(IPV4_MAPPED.length).join('.') : plain;
}

/**
 * The unit of limits per source: an IPv4 address is itself, an IPv6 one its /64 (`2001:db8:0:1::/64`), since a client
 * with one address of it has all. Anything else is itself.
 */
export function sourceGroup(address: string): string {
  const plain = normaliseAddress(address);
  return plain.includes(':') ? networkOf(plain) : plain;
}

/** The /64 of an IPv6 address without a zone: needed several times per connection and message. */
const networkOf = remembered((address) => {
  const bytes = addressBytes(address);
  if (bytes === null) return address;
  const groups = [0, 2, 4, 6].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));
  return `${groups.join(':')}::/64`;
});

/** The range, or why it is invalid. */
function parseRange(entry: string): Range | string {
  const [, address = '', prefix] = CIDR.exec(entry) ?? [];
  const network = addressBytes(address);
  if (network === null) {
    const tooMuch = address.includes(':') ? undefined : address.split('.').find((part) => Number(part) > 255);
    const which = tooMuch === undefined ? '' : `: ${tooMuch} is more than 255`;
    return `not an IP address or range such as 10.0.0.0/8 or fd00::/8${which}`;
  }
  if (isMapped(network)) return 'write an IPv4-mapped range as IPv4';
  const width = network.length * 8;
  const bits = prefix === undefined ? width : Number(prefix);
  if (bits > width) return `the prefix may have at most ${width} bits`;
  if (!startsRange(network, bits))
    return `has bits set behind its first ${bits}${meantInstead(network, bits)}`;
  return { network, bits };
}

/** What an IPv4 range with bits after its prefix may mean. */
function meantInstead(network: Uint8Array, bits: number): string {
  if (network.length !== 4) return '';
  const start = network.map((byte, i) => byte & byteMask(bits, i)).join('.');
  return `; write ${start}/${bits} for all of it, or ${network.join('.')} for one host`;
}

function inAny(ranges: readonly Range[], address: string): boolean {
  const bytes = addressBytes(normaliseAddress(address));
  return bytes !== null && ranges.some((range) => inRange(range, bytes));
}

function inRange({ network, bits }: Range, address: Uint8Array): boolean {
  if (address.length !== network.length) return false;
  return network.every((byte, i) => byte === ((address[i] ?? 0) & byteMask(bits, i)));
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && IPV4_MAPPED.every((byte, i) => byte === bytes[i]);
}

function startsRange(network: Uint8Array, bits: number): boolean {
  return network.every((byte, i) => (byte & ~byteMask(bits, i)) === 0);
}

/** Which bits of the byte at `index` belong to a prefix of `bits`. */
function byteMask(bits: number, index: number): number {
  const inByte = Math.min(8, Math.max(0, bits - index * 8));
  return (0xff << (8 - inByte)) & 0xff;
}

/** The 4 or 16 bytes of an address; null if it is invalid. */
function addressBytes(address: string): Uint8Array | null {
  switch (isIP(address)) {
    case 4:
      return Uint8Array.from(address.split('.'), Number);
    case 6:
      return ipv6Bytes(address);
    default:
      return null;
  }
}

/** The bytes of an address that `isIP` has recognized as IPv6 (RFC 4291 §2.2). */
function ipv6Bytes(address: string): Uint8Array {
  const [head = '', tail] = address.split('::');
  const front = groupBytes(head);
  const back = groupBytes(tail ?? '');
  const bytes = new Uint8Array(16);
  bytes.set(front);
  bytes.set(back, 16 - back.length);
  return bytes;
}

function groupBytes(groups: string): number[] {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** IPv4 that is not public (IANA's registry of special-purpose addresses, RFC 6890). */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The parts of allocated IPv6 that are not public: IETF's own with Teredo, documentation, 6to4, SRv6. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16'];

/** Global unicast (RFC 4291), and IPv4 behind NAT64 (RFC 6052), which is judged by the embedded address. */
const GIVEN_OUT_IPV6 = ['2000::/3', '64:ff9b::/96'];

const given = setOf(GIVEN_OUT_IPV6);
const special = setOf([...SPECIAL_IPV4, ...SPECIAL_IPV6, ...SPECIAL_IPV4.map(behindNat64)]);

/**
 * Whether an address is public: not private, loopback, link-local, multicast, unspecified, reserved, or one of these
 * embedded in IPv6. False for anything else.
 */
export function isPublicAddress(address: string): boolean {
  // A zone has no meaning beyond this machine.
  if (address.includes('%')) return false;
  const plain = normaliseAddress(address);
  const family = isIP(plain);
  if (family === 0 || (family === 6 && !given.contains(plain))) return false;
  return !special.contains(plain);
}

function behindNat64(range: string): string {
  const [address = '', bits = ''] = range.split('/');
  return `64:ff9b::${address}/${96 + Number(bits)}`;
}

function setOf(ranges: readonly string[]): CidrSet {
  const parsed = parseCidrs(ranges);
  if (!parsed.ok) throw new Error(`${parsed.entry}: ${parsed.reason}`);
  return parsed.cidrs;
}

/**
 * Link-local addresses (RFC 3927, RFC 4291), and those at which clouds serve machine metadata, including secrets. No
 * mail server has one.
 */
export const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');
LINK_LOCAL.addAddress('fd00:ec2::254', 'ipv6');
LINK_LOCAL.addAddress('100.100.100.200', 'ipv4');
LINK_LOCAL.addSubnet('::ffff:169.254.0.0', 112, 'ipv6');

/** An address and a port. */
export interface Endpoint {
  /** IPv4 or IPv6, without brackets. */
  readonly address: string;
  readonly port: number;
}

const WITH_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):([1-9][0-9]{0,4})$/;
const MAX_PORT = 65_535;

/**
 * Parses `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`; without a port it is `defaultPort`. Null for
 * anything else.
 */
export function parseEndpoint(text: string, defaultPort: number): Endpoint | null {
  if (isIP(text) !== 0) return text.includes('%') ? null : { address: text, port: defaultPort };
  const [, v6, v4, port = ''] = WITH_PORT.exec(text) ?? [];
  const isGood = v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6;
  return isGood && Number(port) <= MAX_PORT ? { address: v6 ?? v4 ?? '', port: Number(port) } : null;
}

/** The names of this server. */
export interface OwnHosts {
  /** `webui.allowed_hosts` */
  readonly allowedHosts: readonly string[];
  /** `server.hostname` */
  readonly hostname: string;
  /** A set-up link is open: its holder may use a name that is not configured yet. */
  readonly anyHost?: boolean;
  /** Nobody has to sign in: only localhost and loopback addresses are ours, whatever else is said here. */
  readonly loopbackOnly?: boolean;
}

/** A server whose only names are those of loopback. */
export const LOOPBACK_ONLY: OwnHosts = { allowedHosts: [], hostname: 'localhost', loopbackOnly: true };

const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/;

/**
 * Whether the host of a URL, in lower case, with or without a port, is ours. Addresses are; with `loopbackOnly`, those of
 * loopback.
 */
export function isOwnHost(host: string, own: OwnHosts): boolean {
  const { allowedHosts, hostname, anyHost = false, loopbackOnly = false } = own;
  const [, address, name] = HOST.exec(host) ?? [];
  if (address !== undefined) return isIP(address) === 6 && (!loopbackOnly || isLoopback(address));
  if (name === undefined) return false;
  const plain = name.replace(/\.$/, '');
  if (loopbackOnly) return plain === 'localhost' || isLoopback(plain);
  return (
    anyHost ||
    isIP(plain) === 4 ||
    ['localhost', hostname, ...allowedHosts].some((known) => known.toLowerCase() === plain)
  );
}
