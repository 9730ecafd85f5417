import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIPv6, SocketAddress } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { CertificateLife } from '../domain/certificate.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { ownUser, userText } from '../lib/command.ts';
import { errorCode, readError } from '../lib/error.ts';
import type { KeyAndCertificate } from './self-signed.ts';

/** An unusable certificate. The message names the setting or file, and says why. */
class CertificateError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CertificateError';
  }
}

/** Reads a pair of files. Rejects with {@link CertificateError}. */
export type PairReader = () => Promise<KeyAndCertificate>;

/** What a fault calls a certificate and its key. */
export interface PairNames {
  readonly cert: string;
  readonly key: string;
}

/** Names for a pair that was not read from files. */
const SETTINGS: PairNames = { cert: 'tls.cert_file', key: 'tls.key_file' };

/** Names for the files of the settings. */
export function namesOfFiles(certFile: string, keyFile: string): PairNames {
  return { cert: `${SETTINGS.cert} (${certFile})`, key: `${SETTINGS.key} (${keyFile})` };
}

/** Makes the reader of two files; unchanged files are checked only once. */
export function pairReader(
  certFile: string,
  keyFile: string,
  names: PairNames = { cert: certFile, key: keyFile },
): PairReader {
  let judged: { readonly pair: KeyAndCertificate; readonly fault: string | null } | null = null;
  return async () => {
    const cert = await readPem(certFile, names.cert);
    const key = await readPem(keyFile, names.key);
    if (judged === null || judged.pair.cert !== cert || judged.pair.key !== key)
      judged = { pair: { cert, key }, fault: faultOf({ cert, key }, names) };
    if (judged.fault !== null) throw new CertificateError(judged.fault);
    return judged.pair;
  };
}

async function readPem(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const who = errorCode(error) === 'EACCES' ? `; let ${userText(ownUser())} read it` : '';
    throw new CertificateError(`${name} cannot be read: ${readError(error)}${who}`, { cause: error });
  }
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/;

/** The certificates of a PEM text, in order. */
export function certificatesIn(pem: string): string[] {
  return pem.match(BLOCK) ?? [];
}

/** What is wrong with a pair, naming the setting or file at fault; null if TLS can use it. */
export function faultOf(pair: KeyAndCertificate, names: PairNames = SETTINGS): string | null {
  const blocks = certificatesIn(pair.cert);
  if (blocks.length === 0)
    return PRIVATE_KEY.test(pair.cert) && pair.key.includes('-----BEGIN CERTIFICATE-----')
      ? `${names.cert} contains the key and ${names.key} the certificate; swap them`
      : `${names.cert}: there is no certificate in PEM form in it`;
  const chain = blocks.map(parseCertificate);
  const unreadable = chain.indexOf(null);
  if (unreadable >= 0)
    return `${names.cert}: certificate ${unreadable + 1} of ${chain.length} cannot be read`;
  const key = parseKey(pair.key, names.key);
  if (typeof key === 'string') return key;
  const place = chain.findIndex((certificate) => certificate?.checkPrivateKey(key));
  if (place < 0) return `${names.key}: the key is not the one of the certificate in ${names.cert}`;
  if (place > 0) return `${names.cert}: the key’s certificate must come first, then its issuers`;
  try {
    createSecureContext(pair);
    return null;
  } catch (error) {
    return `${names.cert}, ${names.key}: TLS cannot use them (${error instanceof Error ? error.message : error})`;
  }
}

/** From when to when the pair's own certificate is valid. */
export function lifeOf({ cert }: Pick<KeyAndCertificate, 'cert'>): CertificateLife {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
}

function parseCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** The key, or what is wrong with it. */
function parseKey(pem: string, name: string): KeyObject | string {
  if (!PRIVATE_KEY.test(pem)) return `${name}: there is no private key in PEM form in it`;
  if (pem.includes('ENCRYPTED'))
    return `${name}: the key is encrypted; store it without a passphrase, readable by its owner only`;
  try {
    return createPrivateKey(pem);
  } catch {
    return `${name}: the private key cannot be read`;
  }
}

/** What is wrong with a pair to be used from now (wall ms) on; null if browsers would accept it. */
export function uploadFault(pair: KeyAndCertificate, now: number): string | null {
  const fault = faultOf(pair);
  // The text names the settings by which files are configured.
  if (fault !== null)
    return fault.replaceAll('tls.cert_file', 'certificate').replaceAll('tls.key_file', 'key');
  const chain = certificatesIn(pair.cert).map((pem) => new X509Certificate(pem));
  const [own] = chain;
  if (own === undefined) return 'certificate: there is none';
  const { validFromDate, validToDate } = own;
  if (validToDate.getTime() <= now)
    return `certificate: it expired at ${formatTimestamp(validToDate.getTime())}`;
  if (validFromDate.getTime() > now)
    return `certificate: it is not valid before ${formatTimestamp(validFromDate.getTime())}`;
  if (namesIn(own).length === 0) return 'certificate: it names no host (subjectAltName)';
  const loose = chain.findIndex((one, place) => {
    const next = chain[place + 1];
    return next !== undefined && !one.checkIssued(next);
  });
  if (loose < 0) return null;
  return `certificate: number ${loose + 2} of ${chain.length} did not issue number ${loose + 1}; put each before its issuer`;
}

/** The names and addresses that a certificate is valid for; IPv6 in its short form (RFC 5952). */
export function namesIn({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):([\w.:*-]+)$/.exec(entry)?.[1] ?? [])
    .map((name) => (isIPv6(name) ? new SocketAddress({ address: name, family: 'ipv6' }).address : name));
}
