import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { HostAddresses } from './hosts.ts';
import { type DnsAnswer, type DnsRefusal, deferred, type RecordData, type Resolver } from './resolver.ts';

/** Matches a server's certificates with its TLSA records (RFC 7672 §3, RFC 7671). */

/** One TLSA record (RFC 6698 §2.1). */
export type Tlsa = RecordData['TLSA'];

/** The names and the time for which a chain must be valid. */
export interface TlsaContext {
  /** For usage 2: the recipients' domain, the host's name as the MX has it, and the base domain (RFC 7672 §3.2.2). */
  readonly names: readonly string[];
  /** Wall time in ms, for usage 2; a certificate of usage 3 never expires (RFC 7672 §3.1.1). */
  readonly nowMs: number;
}

/** Octets of a digest, by matching type (RFC 6698 §2.1.3). */
const DIGEST_BYTES: Readonly<Record<number, number>> = { 1: 32, 2: 64 };
/** Longer chains are examined only in part. */
const MAX_CHAIN = 10;

/**
 * Whether a chain of certificates, in DER, the server's own first, matches one of the records. Usage 3 compares only
 * the server's certificate; usage 2 also requires a chain of signatures up to the matching one that is valid now and
 * for one of the names. The certificate or key of usage 2 may be in the record itself and missing from the chain (RFC
 * 7671 §5.2). Usages 0 and 1 match nothing (RFC 7672 §3.1.3). Never throws.
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
    // A certificate that the library cannot parse proves nothing.
    return false;
  }
}

/** Usages 0 and 1 need roots that differ between systems, and are not used for mail (RFC 7672 §3.1.3). */
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

/** Follows signatures from a certificate to its issuers, using each once. */
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
    // The key is of another kind than the signature.
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

// The public key of a certificate, as the bytes in it.

const SEQUENCE = 0x30;
const VERSION = 0xa0;

/** One element of DER (ITU-T X.690 §8.1): its start, the start of its contents, its end. */
interface Element {
  readonly tag: number;
  readonly start: number;
  readonly contents: number;
  readonly end: number;
}

/**
 * SubjectPublicKeyInfo of a certificate in DER (RFC 5280 §4.1), for selector 1 of TLSA records: the bytes in the
 * certificate, not those that a library would write for the same key. Null for bytes that are not a certificate.
 */
export function subjectPublicKeyInfo(certificate: Uint8Array): Uint8Array | null {
  const whole = elementAt(certificate, 0, certificate.length);
  const body = whole?.tag === SEQUENCE ? elementAt(certificate, whole.contents, whole.end) : null;
  if (body?.tag !== SEQUENCE) return null;
  let at = body.contents;
  const version = elementAt(certificate, at, body.end);
  if (version?.tag === VERSION) at = version.end;
  // serialNumber, signature, issuer, validity, subject
  for (let fields = 0; fields < 5; fields++) {
    const field = elementAt(certificate, at, body.end);
    if (field === null) return null;
    at = field.end;
  }
  const key = elementAt(certificate, at, body.end);
  return key?.tag === SEQUENCE ? certificate.subarray(key.start, key.end) : null;
}

/** Null if it does not end before `limit`. Lengths of more than three octets exceed any certificate. */
function elementAt(bytes: Uint8Array, start: number, limit: number): Element | null {
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined) return null;
  const octets = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || octets > 3) return null;
  let length = octets === 0 ? first : 0;
  for (let i = 0; i < octets; i++) length = length * 256 + (bytes[start + 2 + i] ?? 0);
  const contents = start + 2 + octets;
  return contents + length <= limit ? { tag, start, contents, end: contents + length } : null;
}

// DANE for SMTP (RFC 7672): whether a host's records require TLS with a matching certificate.

/**
 * DANE's requirement for the connection to a host.
 * - `opportunistic`: DANE does not apply, for the reason `why`.
 * - `mandatory`: TLS, with a chain that `matchTlsa` accepts; nothing else is checked.
 * - `mandatory_unauthenticated`: TLS with any certificate: there are records, but none is usable (RFC 7672 §2.2).
 * - `deferred`: this host may not be used now, because its records could not be looked up.
 */
export type DaneDecision =
  | { readonly kind: 'opportunistic'; readonly why: 'insecure' | 'no_records' }
  | {
      readonly kind: 'mandatory';
      /** Usable ones, at least one. */
      readonly records: readonly Tlsa[];
      /** The host's name in the query that found them: SNI, and one of the names for usage 2. */
      readonly baseDomain: string;
    }
  | { readonly kind: 'mandatory_unauthenticated'; readonly baseDomain: string }
  | DnsRefusal;

/** The host to look up. */
export interface DaneHost {
  /** The MX answer, or the proof that there is none, was validated (`MxHosts.authenticated`). */
  readonly mxAuthenticated: boolean;
  /** The host's name, as the MX record has it. */
  readonly name: string;
  readonly port: number;
  readonly addresses: HostAddresses;
}

/** Only the first records count, since each may cost a check of a signature. */
const MAX_RECORDS = 16;
/**
 * Looks up TLSA records if MX and addresses were validated, and decides. If the host's name is an alias, the canonical
 * name is tried first, then its own (RFC 7672 §2.2.2). Records that were not validated count as none. If a query fails,
 * an attacker may be suppressing the answer: deferred, 4.7.5 `dane_lookup_failed`.
 */
export async function lookUpDane(
  resolver: Resolver,
  host: DaneHost,
  signal: AbortSignal,
): Promise<DaneDecision> {
  const { addresses, name, port } = host;
  if (!host.mxAuthenticated || !addresses.authenticated) return { kind: 'opportunistic', why: 'insecure' };
  for (const baseDomain of new Set([addresses.canonicalName, name])) {
    const answer = await resolver.resolve(`_${port}._tcp.${baseDomain}`, 'TLSA', signal);
    const decision = decide(answer, baseDomain);
    if (decision !== null) return decision;
  }
  return { kind: 'opportunistic', why: 'no_records' };
}

/** Null: there is nothing at this name. */
function decide(answer: DnsAnswer<'TLSA'>, baseDomain: string): DaneDecision | null {
  if (answer.kind === 'failed') {
    if (answer.cause === 'dns_invalid') return null;
    const text = `The TLSA records of ${baseDomain} are not known: ${answer.text}`;
    return deferred('dane_lookup_failed', '4.7.5', text);
  }
  if (answer.kind !== 'found' || !answer.authenticated) return null;
  const records = answer.records.filter(isUsable).slice(0, MAX_RECORDS);
  return records.length === 0
    ? { kind: 'mandatory_unauthenticated', baseDomain }
    : { kind: 'mandatory', records, baseDomain };
}
