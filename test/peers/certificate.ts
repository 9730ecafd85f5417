/** Makes X.509 certificates (RFC 5280) for test servers, without any outside program. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** Key and certificate as PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A root that tests may trust, with the means to sign others. */
export interface Authority extends Certificate {
  readonly name: string;
  readonly privateKey: KeyObject;
}

/** What a server's certificate says. */
export interface CertificateOptions {
  /** Names and IPv4 addresses in subjectAltName. */
  readonly hosts: readonly string[];
  /** Default: valid for nine days to come. */
  readonly expired?: boolean;
  /** Default: self-signed. */
  readonly issuer?: Authority;
  /** The bits of an RSA key, for a certificate with an issuer. Default: a key over P-256. */
  readonly rsaBits?: number;
}

const DAY_MS = 86_400_000;

/** A self-signed root. */
export function createAuthority(name = 'Test Root'): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const basicConstraints = extension(OID.basicConstraints, der(TAG.sequence, bytes('0101ff')));
  const facts = { subject: name, issuer: name, publicKey, lastsMs: 9 * DAY_MS, extension: basicConstraints };
  return { ...pem(privateKey, certify(facts, privateKey)), name, privateKey };
}

/** A server's certificate. */
export function createCertificate(options: CertificateOptions): Certificate {
  const { publicKey, privateKey } =
    options.rsaBits === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: options.rsaBits });
  const subject = options.hosts[0] ?? 'nobody';
  const facts = {
    subject,
    issuer: options.issuer?.name ?? subject,
    publicKey,
    lastsMs: options.expired ? -DAY_MS : 9 * DAY_MS,
    extension: extension(OID.subjectAltName, der(TAG.sequence, ...options.hosts.map(generalName))),
  };
  return pem(privateKey, certify(facts, options.issuer?.privateKey ?? privateKey));
}

interface Facts {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly lastsMs: number;
  readonly extension: Buffer;
}

const TAG = { integer: 0x02, bits: 0x03, octets: 0x04, utf8: 0x0c, time: 0x17, sequence: 0x30, set: 0x31 };
/** Object identifiers, already in DER. */
const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  basicConstraints: '0603551d13',
  subjectAltName: '0603551d11',
};

function certify(facts: Facts, signer: KeyObject): Buffer {
  const algorithm = der(TAG.sequence, bytes(OID.ecdsaWithSha256));
  const body = der(
    TAG.sequence,
    bytes('a003020102'), // version 3
    der(TAG.integer, Buffer.concat([bytes('01'), randomBytes(8)])),
    algorithm,
    distinguishedName(facts.issuer),
    der(TAG.sequence, utcTime(Date.now() - 2 * DAY_MS), utcTime(Date.now() + facts.lastsMs)),
    distinguishedName(facts.subject),
    facts.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(TAG.sequence, facts.extension)),
  );
  const signature = Buffer.concat([bytes('00'), sign('sha256', body, signer)]);
  return der(TAG.sequence, body, algorithm, der(TAG.bits, signature));
}

function distinguishedName(commonName: string): Buffer {
  const attribute = der(TAG.sequence, bytes(OID.commonName), der(TAG.utf8, Buffer.from(commonName)));
  return der(TAG.sequence, der(TAG.set, attribute));
}

function utcTime(ms: number): Buffer {
  return der(TAG.time, Buffer.from(new Date(ms).toISOString().replace(/^\d\d|[-:T]|\.\d+/g, '')));
}

function extension(oid: string, value: Buffer): Buffer {
  return der(TAG.sequence, bytes(oid), der(TAG.octets, value));
}

function generalName(host: string): Buffer {
  return isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

/** One DER element: tag, length, contents. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  // As short as can be: browsers refuse anything else.
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  const head = length < 128 ? [tag, length] : [tag, ...long];
  return Buffer.concat([Buffer.from(head), content]);
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function pem(key: KeyObject, certificate: Buffer): Certificate {
  const body = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  };
}
