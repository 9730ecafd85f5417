/** Makes self-signed X.509 certificates (RFC 5280) in DER: one fixed form, so no library is needed. */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Random } from '../lib/random.ts';
import { bitString, element, extension, integer, oid, pem, subjectAltName, TAG } from './der.ts';

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
  /** What an authority looks for in the answer to a challenge by TLS (RFC 8737 §3): a SHA-256. Absent: nothing. */
  readonly acmeIdentifier?: Buffer;
}

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
    element(TAG.extensions, element(TAG.sequence, ...extensions(options))),
  );
  const signature = bitString(sign('sha256', body, pair.privateKey));
  return {
    key: pair.privateKey,
    cert: pem('CERTIFICATE', element(TAG.sequence, body, algorithm, signature)),
  };
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

function extensions({ hosts, acmeIdentifier }: SelfSignedOptions): Buffer[] {
  const digitalSignature = Buffer.of(TAG.bitString, 2, 7, 0x80);
  return [
    extension('basicConstraints', true, element(TAG.sequence)),
    extension('keyUsage', true, digitalSignature),
    extension('extendedKeyUsage', false, element(TAG.sequence, oid('serverAuth'))),
    subjectAltName(hosts),
    ...(acmeIdentifier === undefined
      ? []
      : [extension('acmeIdentifier', true, element(TAG.octetString, acmeIdentifier))]),
  ];
}

function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return ms < GENERALIZED_FROM
    ? element(TAG.utcTime, Buffer.from(digits.slice(2)))
    : element(TAG.generalizedTime, Buffer.from(digits));
}
