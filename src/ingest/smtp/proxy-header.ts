/**
 * The header in which a proxy names its client: the PROXY protocol, versions 1 and 2, by HAProxy's specification of
 * 2020/03/05 (proxy-protocol.txt). No I/O: bytes in, values out.
 */
import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { normaliseAddress } from '../../lib/network.ts';

/**
 * The verdict on a connection's first bytes: an incomplete header, no header, or a header.
 * - `source`: the client's address, normalised and in its shortest form; null when the proxy names none (LOCAL,
 * UNKNOWN, UNIX sockets, datagrams), and the peer's own counts.
 * - `length`: bytes of the header; the client's own bytes follow.
 */
export type ProxyHeader =
  | { readonly kind: 'more' }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'header'; readonly source: string | null; readonly length: number };

/** §2.1: bytes of a line of version 1 with its CRLF. */
const MAX_LINE = 107;
/** All beginnings of a version 1 line. */
const LINE_STARTS = ['PROXY TCP4 ', 'PROXY TCP6 ', 'PROXY UNKNOWN ', 'PROXY UNKNOWN\r'] as const;
const LINE_END = /[\r\n]/;
const CRLF = '\r\n';
/** §2.1: no leading zeros. */
const PORT = /^(?:0|[1-9]\d{0,4})$/;
const MAX_PORT = 65_535;
/** The only characters of an address; a zone is not allowed. */
const IPV4_CHARACTERS = /^[\d.]{0,15}$/;
const IPV6_CHARACTERS = /^[\da-f:.]{0,45}$/i;
const PORT_CHARACTERS = /^\d{0,5}$/;

/** Source and destination, port and port. */
const FIELDS = 4;
const FIRST_PORT = 2;

/** §2.2: the signature of version 2. */
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const COMMAND_AT = 12;
const PROTOCOL_AT = 13;
const LENGTH_AT = 14;
const FIXED_BYTES = 16;
/** After the fixed part 2,048 bytes: addresses (216 at most) and TLVs, long when they describe a certificate. */
const MAX_HEADER = FIXED_BYTES + 2048;
/** Version 2 with its two commands. */
const LOCAL = 0x20;
const PROXY = 0x21;
/** Of unspecified, stream and datagram. */
const STREAM = 1;
const HIGHEST_TRANSPORT = 2;
/** Bytes of both addresses and ports by family: unspecified, IPv4, IPv6, UNIX. */
const ADDRESS_BYTES = [0, 12, 36, 216] as const;
const FAMILY_IPV4 = 1;
const FAMILY_IPV6 = 2;
const IPV4_BYTES = 4;
const IPV6_GROUPS = 8;

const MORE: ProxyHeader = { kind: 'more' };

/**
 * Reads the header from all bytes of a connection so far. Waits for at most 107 bytes of version 1, 2,064 of version 2.
 * Extensions (TLVs) are skipped, as the specification allows.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  const compared = Math.min(bytes.length, SIGNATURE.length);
  const isBinary = bytes.compare(SIGNATURE, 0, compared, 0, compared) === 0;
  return isBinary ? readBinary(bytes) : readLine(bytes.toString('latin1', 0, MAX_LINE));
}

/** §2.1, version 1. `text` is the input, cut after the last byte that may belong to the line. */
function readLine(text: string): ProxyHeader {
  if (!LINE_STARTS.some((start) => text.startsWith(start))) {
    const mayBecomeOne = LINE_STARTS.some((start) => start.startsWith(text));
    return mayBecomeOne ? MORE : invalid('there is no PROXY header');
  }
  const found = text.search(LINE_END);
  const end = found < 0 ? text.length : found;
  const [, protocol, ...fields] = text.slice(0, end).split(' ');
  if (protocol !== 'UNKNOWN' && !areEndpoints(protocol === 'TCP4', fields, found >= 0))
    return invalid('the line does not have two addresses and two ports');
  const ending = text.slice(end, end + CRLF.length);
  if (!CRLF.startsWith(ending)) return invalid('the line does not end in CRLF');
  if (ending === CRLF) {
    const source = protocol === 'UNKNOWN' ? null : canonical(fields[0] ?? '');
    return { kind: 'header', source, length: end + CRLF.length };
  }
  return text.length < MAX_LINE ? MORE : invalid(`the line has more than ${MAX_LINE} bytes`);
}

/** Whether the fields are source and destination, port and port; if not `isWhole`, whether they may become so. */
function areEndpoints(isTcp4: boolean, fields: readonly string[], isWhole: boolean): boolean {
  if (fields.length > FIELDS || (isWhole && fields.length < FIELDS)) return false;
  return fields.every((field, i) => {
    const isEnded = isWhole || i < fields.length - 1;
    if (i >= FIRST_PORT) return isEnded ? isPort(field) : PORT_CHARACTERS.test(field);
    if (isTcp4) return isEnded ? isIPv4(field) : IPV4_CHARACTERS.test(field);
    return IPV6_CHARACTERS.test(field) && (!isEnded || isIPv6(field));
  });
}

function isPort(text: string): boolean {
  return PORT.test(text) && Number(text) <= MAX_PORT;
}

/** §2.2, version 2. The input begins as the signature does. */
function readBinary(bytes: Buffer): ProxyHeader {
  const command = bytes[COMMAND_AT];
  if (command === undefined) return MORE;
  if (command !== LOCAL && command !== PROXY)
    return invalid('the version is not 2, or the command is unknown');
  const protocol = bytes[PROTOCOL_AT];
  if (protocol === undefined) return MORE;
  const family = protocol >> 4;
  const transport = protocol & 0x0f;
  // LOCAL: family and transport are ignored, whatever they are.
  if (command === PROXY && (family >= ADDRESS_BYTES.length || transport > HIGHEST_TRANSPORT))
    return invalid('the address family or the transport is unknown');
  if (bytes.length < FIXED_BYTES) return MORE;
  const length = FIXED_BYTES + bytes.readUInt16BE(LENGTH_AT);
  if (length > MAX_HEADER) return invalid(`the header has more than ${MAX_HEADER} bytes`);
  const isTold = command === PROXY && transport === STREAM;
  if (isTold && length < FIXED_BYTES + (ADDRESS_BYTES[family] ?? 0))
    return invalid('the header is too short for its addresses');
  if (bytes.length < length) return MORE;
  return { kind: 'header', source: isTold ? binarySource(bytes, family) : null, length };
}

function binarySource(bytes: Buffer, family: number): string | null {
  if (family === FAMILY_IPV4) return bytes.subarray(FIXED_BYTES, FIXED_BYTES + IPV4_BYTES).join('.');
  if (family !== FAMILY_IPV6) return null;
  const groups = Array.from({ length: IPV6_GROUPS }, (_, i) => bytes.readUInt16BE(FIXED_BYTES + 2 * i));
  return canonical(groups.map((group) => group.toString(16)).join(':'));
}

/** A valid address as a socket would report it, so that a client has one notation whatever the source. */
function canonical(address: string): string {
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  return normaliseAddress(new SocketAddress({ address, family }).address);
}

function invalid(reason: string): ProxyHeader {
  return { kind: 'invalid', reason };
}
