/** Requests for certificates (PKCS #10, RFC 2986), and what is read from certificates to speak of them. */
import { generateKeyPair, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyType } from '../domain/certificate.ts';
import { bitString, element, elementsIn, integer, OID, oid, subjectAltName, TAG } from './der.ts';

/** A request, and the key that the certificate will be for. */
export interface CertificateRequest {
  /** PEM. */
  readonly key: string;
  /** DER. */
  readonly request: Buffer;
}

const generate = promisify(generateKeyPair);

/** Makes a new key, and a request for a certificate for these host names. */
export async function createRequest(hosts: readonly string[], keyType: KeyType): Promise<CertificateRequest> {
  const { publicKey, privateKey } = await makeKey(keyType);
  const wanted = element(TAG.sequence, subjectAltName(hosts));
  const body = element(
    TAG.sequence,
    integer(Buffer.of(0)),
    // No subject: the names say all.
    element(TAG.sequence),
    publicKey.export({ type: 'spki', format: 'der' }),
    element(TAG.attributes, element(TAG.sequence, oid('extensionRequest'), element(TAG.set, wanted))),
  );
  const isLong = keyType === 'ec-384';
  const signature = bitString(sign(isLong ? 'sha384' : 'sha256', body, privateKey));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key, request: element(TAG.sequence, body, algorithmOf(keyType), signature) };
}

function makeKey(keyType: KeyType): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  const [kind, size = ''] = keyType.split('-');
  return kind === 'ec'
    ? generate('ec', { namedCurve: `P-${size}` })
    : generate('rsa', { modulusLength: Number(size) });
}

function algorithmOf(keyType: KeyType): Buffer {
  switch (keyType) {
    case 'ec-256':
      return element(TAG.sequence, oid('ecdsaWithSha256'));
    case 'ec-384':
      return element(TAG.sequence, oid('ecdsaWithSha384'));
    default:
      return element(TAG.sequence, oid('rsaWithSha256'), element(TAG.null));
  }
}

/**
 * The name by which an authority knows a certificate of its own where it advises on renewal (RFC 9773 §4.1); null if
 * the certificate does not say which key signed it.
 */
export function certificateId(pem: string): string | null {
  const certificate = elementsIn(new X509Certificate(pem).raw)?.[0];
  const body = elementsIn(certificate?.content ?? Buffer.of())?.[0];
  const fields = elementsIn(body?.content ?? Buffer.of()) ?? [];
  const serial = fields.find(({ tag }) => tag === TAG.integer);
  const list = fields.find(({ tag }) => tag === TAG.extensions);
  const extensions = elementsIn(elementsIn(list?.content ?? Buffer.of())?.[0]?.content ?? Buffer.of()) ?? [];
  const wanted = Buffer.from(OID.authorityKeyIdentifier, 'hex').subarray(2);
  for (const { content } of extensions) {
    const parts = elementsIn(content) ?? [];
    if (parts[0]?.content.equals(wanted) !== true) continue;
    const value = elementsIn(parts.at(-1)?.content ?? Buffer.of())?.[0];
    const keyId = elementsIn(value?.content ?? Buffer.of())?.find(({ tag }) => tag === TAG.keyIdentifier);
    if (keyId === undefined || serial === undefined) return null;
    return `${keyId.content.toString('base64url')}.${serial.content.toString('base64url')}`;
  }
  return null;
}
