/** Whether a server's certificates are those that its TLSA records name (RFC 7672 §3, RFC 7671). */
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { subjectPublicKeyInfo } from './certificate-key.ts';
import type { RecordData } from './resolver.ts';

/** One TLSA record (RFC 6698 §2.1). */
export type Tlsa = RecordData['TLSA'];

/** Whom a chain must speak for, and when. */
export interface TlsaContext {
  /** For usage 2: the recipients' domain, the host's name as the MX has it, and the base domain (RFC 7672 §3.2.2). */
  readonly names: readonly string[];
  /** Wall time in ms, for usage 2; a certificate of usage 3 never expires (RFC 7672 §3.1.1). */
  readonly nowMs: number;
}

/** Octets of a digest, by matching type (RFC 6698 §2.1.3). */
const DIGEST_BYTES: Readonly<Record<number, number>> = { 1: 32, 2: 64 };
/** Of longer chains the rest is not looked at. */
const MAX_CHAIN = 10;

/**
 * Whether a chain of certificates, in DER, the server's own first, matches one of the records. Usage 3 compares the
 * server's certificate and nothing else; usage 2 asks besides for a chain of signatures up to the one that matches,
 * that is valid now and for one of the names. The certificate or key of usage 2 may stand in the record itself and be
 * left out of the chain (RFC 7671 §5.2). Usages 0 and 1 match nothing (RFC 7672 §3.1.3). Never throws.
 */
export function matchTlsa(
  records: readonly Tlsa[],
  chain: readonly Uint8Array[],
  context: TlsaContext,
): boolean {
  const usable = records.filter(isUsable);
  const [leaf, ...others] = chain.slice(0, MAX_CHAIN);
  if (leaf === undefined) return false;
  if (usable.some((record) => record.usage === 3 && matches(record, leaf))) return true;
  const anchors = usable.filter(({ usage }) => usage === 2);
  if (anchors.length === 0) return false;
  try {
    return matchesAnchor(anchors, leaf, others, context);
  } catch {
    // A certificate that the library cannot read vouches for nobody.
    return false;
  }
}

/** Usages 0 and 1 ask for roots that are not the same everywhere, and are not used for mail (RFC 7672 §3.1.3). */
export function isUsable({ usage, selector, matchingType, data }: Tlsa): boolean {
  if (usage !== 2 && usage !== 3) return false;
  if (selector !== 0 && selector !== 1) return false;
  if (matchingType === 0) return data.length > 0;
  return DIGEST_BYTES[matchingType] === data.length / 2;
}

/** Whether a record names this certificate (RFC 6698 §2.1.2, §2.1.3). */
function matches({ selector, matchingType, data }: Tlsa, certificate: Uint8Array): boolean {
  const selected = selector === 0 ? certificate : subjectPublicKeyInfo(certificate);
  if (selected === null) return false;
  const digest = { 0: null, 1: 'sha256', 2: 'sha512' }[matchingType];
  if (digest === undefined) return false;
  const shown =
    digest === null
      ? Buffer.from(selected).toString('hex')
      : createHash(digest).update(selected).digest('hex');
  return shown === data;
}

function matchesAnchor(
  anchors: readonly Tlsa[],
  leafBytes: Uint8Array,
  others: readonly Uint8Array[],
  { names, nowMs }: TlsaContext,
): boolean {
  const leaf = new X509Certificate(leafBytes);
  if (!isValid(leaf, nowMs)) return false;
  if (!names.some((name) => leaf.checkHost(name, { partialWildcards: false }) !== undefined)) return false;
  const inRecords = anchors.flatMap((anchor) => (isFull(anchor, 0) ? [Buffer.from(anchor.data, 'hex')] : []));
  const candidates = [...others, ...inRecords]
    .map(readCertificate)
    .filter((certificate) => certificate !== null)
    .filter((certificate) => certificate.ca && isValid(certificate, nowMs));
  const keys = anchors.flatMap((anchor) => (isFull(anchor, 1) ? (readKey(anchor.data) ?? []) : []));
  return leadsToAnchor(leaf, candidates, anchors, keys);
}

/** Goes from a certificate to those that signed it, each of which is used once. */
function leadsToAnchor(
  leaf: X509Certificate,
  candidates: readonly X509Certificate[],
  anchors: readonly Tlsa[],
  keys: readonly KeyObject[],
): boolean {
  const left = new Set(candidates);
  const vouched = [leaf];
  for (let certificate = vouched.pop(); certificate !== undefined; certificate = vouched.pop()) {
    const signed = certificate;
    if (keys.some((key) => isSignedBy(signed, key))) return true;
    for (const issuer of left) {
      if (!signed.checkIssued(issuer) || !isSignedBy(signed, issuer.publicKey)) continue;
      if (anchors.some((anchor) => matches(anchor, issuer.raw))) return true;
      left.delete(issuer);
      vouched.push(issuer);
    }
  }
  return false;
}

function isFull({ selector, matchingType }: Tlsa, wanted: 0 | 1): boolean {
  return matchingType === 0 && selector === wanted;
}

function isValid(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
}

function isSignedBy(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.verify(key);
  } catch {
    // A key of another kind than the signature.
    return false;
  }
}

function readCertificate(bytes: Uint8Array): X509Certificate | null {
  try {
    return new X509Certificate(bytes);
  } catch {
    return null;
  }
}

function readKey(hex: string): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.from(hex, 'hex'), format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}
