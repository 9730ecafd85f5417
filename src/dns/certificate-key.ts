/** The public key of a certificate, as the bytes that stand in it. */

const SEQUENCE = 0x30;
const VERSION = 0xa0;

/** One element of DER (ITU-T X.690 §8.1): where it begins, where its contents do, where it ends. */
interface Element {
  readonly tag: number;
  readonly start: number;
  readonly contents: number;
  readonly end: number;
}

/**
 * SubjectPublicKeyInfo of a certificate in DER (RFC 5280 §4.1), for selector 1 of TLSA records: what is in the
 * certificate, and not what a library would write for the same key. Null when the bytes are no certificate.
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

/** Null when it does not end before `limit`. Lengths of more than three octets are longer than any certificate. */
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
