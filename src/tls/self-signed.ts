/** Makes self-signed X.509 certificates (RFC 5280) in DER: one fixed form, so no library is needed. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import type { Random } from '../lib/random.ts';

/** Key and certificate as PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

/** The contents of a certificate. */
export interface SelfSignedOptions {
  /** Its host names and IP addresses; the first is also its common name. At least one. */
  readonly hosts: readonly string[];
  /** Wall ms. */
  readonly notBefore: number;
  /** Wall ms. */
  readonly notAfter: number;
  readonly random: Random;
}

/** Tags of DER (X.690 §8). */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** [0] to [7] in a GeneralName: dNSName is 2, iPAddress is 7. */
  dnsName: 0x82,
  ipAddress: 0x87,
  version: 0xa0,
  extensions: 0xa3,
} as const;

/** Object identifiers, as DER elements. */
const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  keyUsage: '0603551d0f',
  subjectAltName: '0603551d11',
  basicConstraints: '0603551d13',
  extendedKeyUsage: '0603551d25',
  serverAuth: '06082b06010505070301',
} as const;

const SERIAL_BYTES = 16;
/** RFC 5280 §A.1: ub-common-name. */
const MAX_COMMON_NAME = 64;
/** The year from which RFC 5280 §4.1.2.5 requires GeneralizedTime. */
const GENERALIZED_FROM = Date.UTC(2050, 0);

/** Makes a new P-256 key and a certificate signed with it. */
export function createSelfSigned(options: SelfSignedOptions): KeyAndCertificate {
  const pair = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const algorithm = element(TAG.sequence, oid('ecdsaWithSha256'));
  const name = distinguishedName(options.hosts);
  const body = element(
    TAG.sequence,
    element(TAG.version, integer(Buffer.of(2))),
    integer(serialNumber(options.random)),
    algorithm,
    name,
    element(TAG.sequence, time(options.notBefore), time(options.notAfter)),
    name,
    pair.publicKey,
    element(TAG.extensions, element(TAG.sequence, ...extensions(options.hosts))),
  );
  const signature = bitString(sign('sha256', body, pair.privateKey));
  return { key: pair.privateKey, cert: pem(element(TAG.sequence, body, algorithm, signature)) };
}

/** Random, positive, and of full length. */
function serialNumber(random: Random): Buffer {
  const serial = Buffer.from(random.fill(new Uint8Array(SERIAL_BYTES)));
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

function distinguishedName([host = '']: readonly string[]): Buffer {
  const commonName = element(TAG.utf8String, Buffer.from(host.slice(0, MAX_COMMON_NAME)));
  return element(TAG.sequence, element(TAG.set, element(TAG.sequence, oid('commonName'), commonName)));
}

function extensions(hosts: readonly string[]): Buffer[] {
  const digitalSignature = Buffer.of(TAG.bitString, 2, 7, 0x80);
  return [
    extension('basicConstraints', true, element(TAG.sequence)),
    extension('keyUsage', true, digitalSignature),
    extension('extendedKeyUsage', false, element(TAG.sequence, oid('serverAuth'))),
    extension('subjectAltName', false, element(TAG.sequence, ...hosts.map(generalName))),
  ];
}

function extension(name: keyof typeof OID, critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [element(TAG.boolean, Buffer.of(0xff))] : [];
  return element(TAG.sequence, oid(name), ...flag, element(TAG.octetString, value));
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

function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return ms < GENERALIZED_FROM
    ? element(TAG.utcTime, Buffer.from(digits.slice(2)))
    : element(TAG.generalizedTime, Buffer.from(digits));
}

function oid(name: keyof typeof OID): Buffer {
  return Buffer.from(OID[name], 'hex');
}

function integer(value: Buffer): Buffer {
  return element(TAG.integer, value);
}

function bitString(value: Buffer): Buffer {
  return element(TAG.bitString, Buffer.of(0), value);
}

/** One DER element: tag, length, contents. */
function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag, ...lengthOctets(content.length)), content]);
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  if (length < 0x100) return [0x81, length];
  return [0x82, length >> 8, length & 0xff];
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
