import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { KeyAndCertificate } from './self-signed.ts';

/** A certificate that cannot be used. The message names the setting or file, and says why. */
class CertificateError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CertificateError';
  }
}

/** Reads a pair of files. Rejects with {@link CertificateError}. */
export type PairReader = () => Promise<KeyAndCertificate>;

/** Makes the reader of two files; the same texts are judged once, however often they are read. */
export function pairReader(certFile: string, keyFile: string): PairReader {
  let judged: { readonly pair: KeyAndCertificate; readonly fault: string | null } | null = null;
  return async () => {
    const cert = await readPem(certFile, 'tls.cert_file');
    const key = await readPem(keyFile, 'tls.key_file');
    if (judged === null || judged.pair.cert !== cert || judged.pair.key !== key)
      judged = { pair: { cert, key }, fault: faultOf({ cert, key }) };
    if (judged.fault !== null) throw new CertificateError(judged.fault);
    return judged.pair;
  };
}

async function readPem(path: string, setting: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown';
    throw new CertificateError(`${setting}: ${path} cannot be read (${code})`, { cause: error });
  }
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/;

/** The certificates of a PEM text, in order. */
export function certificatesIn(pem: string): string[] {
  return pem.match(BLOCK) ?? [];
}

/** What is wrong with a pair, naming the setting whose file is at fault; null when TLS can use it. */
export function faultOf(pair: KeyAndCertificate): string | null {
  const blocks = certificatesIn(pair.cert);
  if (blocks.length === 0)
    return PRIVATE_KEY.test(pair.cert) && pair.key.includes('-----BEGIN CERTIFICATE-----')
      ? 'tls.cert_file holds the key and tls.key_file the certificate; exchange them'
      : 'tls.cert_file: there is no certificate in PEM form in it';
  const chain = blocks.map(parseCertificate);
  const unreadable = chain.indexOf(null);
  if (unreadable >= 0)
    return `tls.cert_file: certificate ${unreadable + 1} of ${chain.length} cannot be read`;
  const key = parseKey(pair.key);
  if (typeof key === 'string') return key;
  const place = chain.findIndex((certificate) => certificate?.checkPrivateKey(key));
  if (place < 0) return 'tls.key_file: the key is not the one of the certificate in tls.cert_file';
  if (place > 0)
    return 'tls.cert_file: the certificate of the key must come first, then those that vouch for it';
  try {
    createSecureContext(pair);
    return null;
  } catch (error) {
    return `tls.cert_file, tls.key_file: TLS cannot use them (${error instanceof Error ? error.message : error})`;
  }
}

/** When the certificate that is shown ends, in wall ms. */
export function expiryOf(pair: KeyAndCertificate): number {
  return new X509Certificate(pair.cert).validToDate.getTime();
}

function parseCertificate(pem: string): X509Certificate | null {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

/** The key, or what is wrong with it. */
function parseKey(pem: string): KeyObject | string {
  if (!PRIVATE_KEY.test(pem)) return 'tls.key_file: there is no private key in PEM form in it';
  if (pem.includes('ENCRYPTED'))
    return 'tls.key_file: the key is encrypted; store it without a passphrase, readable by its owner only';
  try {
    return createPrivateKey(pem);
  } catch {
    return 'tls.key_file: the private key cannot be read';
  }
}
