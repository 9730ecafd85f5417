/** DER (X.690), as far as certificates and requests for them need it: elements are written, and found again. */
import { isIP, isIPv4 } from 'node:net';

/** Tags of DER (X.690 §8). */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** [0] to [7] in a GeneralName: dNSName is 2, iPAddress is 7. */
  dnsName: 0x82,
  ipAddress: 0x87,
  /** [0] in an AuthorityKeyIdentifier. */
  keyIdentifier: 0x80,
  version: 0xa0,
  attributes: 0xa0,
  extensions: 0xa3,
} as const;

/** Object identifiers, as DER elements. */
export const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  ecdsaWithSha384: '06082a8648ce3d040303',
  rsaWithSha256: '06092a864886f70d01010b',
  commonName: '0603550403',
  keyUsage: '0603551d0f',
  subjectAltName: '0603551d11',
  basicConstraints: '0603551d13',
  authorityKeyIdentifier: '0603551d23',
  extendedKeyUsage: '0603551d25',
  serverAuth: '06082b06010505070301',
  extensionRequest: '06092a864886f70d01090e',
  acmeIdentifier: '06082b0601050507011f',
} as const;

/** The name of an object identifier. */
export type OidName = keyof typeof OID;

/** An object identifier. */
export function oid(name: OidName): Buffer {
  return Buffer.from(OID[name], 'hex');
}

/** An INTEGER of these bytes, of which the first bit is the sign. */
export function integer(value: Buffer): Buffer {
  return element(TAG.integer, value);
}

/** A BIT STRING of whole bytes. */
export function bitString(value: Buffer): Buffer {
  return element(TAG.bitString, Buffer.of(0), value);
}

/** One DER element: tag, length, contents. */
export function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag, ...lengthOctets(content.length)), content]);
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  if (length < 0x100) return [0x81, length];
  return [0x82, length >> 8, length & 0xff];
}

/** An extension of a certificate (RFC 5280 §4.1). */
export function extension(name: OidName, isCritical: boolean, value: Buffer): Buffer {
  const flag = isCritical ? [element(TAG.boolean, Buffer.of(0xff))] : [];
  return element(TAG.sequence, oid(name), ...flag, element(TAG.octetString, value));
}

/** The extension that names the hosts and IP addresses of a certificate. */
export function subjectAltName(hosts: readonly string[]): Buffer {
  return extension('subjectAltName', false, element(TAG.sequence, ...hosts.map(generalName)));
}

function generalName(host: string): Buffer {
  return isIP(host) === 0
    ? element(TAG.dnsName, Buffer.from(host, 'latin1'))
    : element(TAG.ipAddress, addressBytes(host));
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes every group in hexadecimal, and `::` at most once.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const front = groups(head);
  const back = groups(tail);
  const zeros = new Array<string>(8 - front.length - back.length).fill('0');
  return Buffer.from([...front, ...zeros, ...back].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** Bytes as PEM. */
export function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** An element that was read. */
export interface ReadElement {
  readonly tag: number;
  readonly content: Buffer;
}

const MAX_LENGTH_OCTETS = 4;

/** The elements that bytes consist of; null if they do not consist of elements. */
export function elementsIn(bytes: Buffer): ReadElement[] | null {
  const found: ReadElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1] ?? 0x80;
    const octets = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + octets;
    if ((first >= 0x80 && octets === 0) || octets > MAX_LENGTH_OCTETS || start > bytes.length) return null;
    const length = octets === 0 ? first : bytes.readUIntBE(at + 2, octets);
    if (start + length > bytes.length) return null;
    found.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}
