/** Certificates as authorities issue them. */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import type { CertificateLife } from '../../src/domain/certificate.ts';
import {
  bitString,
  element,
  elementsIn,
  extension,
  integer,
  oid,
  pem,
  subjectAltName,
  TAG,
} from '../../src/tls/der.ts';

/** The public key of a request for a certificate, in base64url: DER. */
export function keyRequested(csr: string): Buffer {
  const [body] = elementsIn(elementsIn(Buffer.from(csr, 'base64url'))?.[0]?.content ?? Buffer.of()) ?? [];
  return element(TAG.sequence, elementsIn(body?.content ?? Buffer.of())?.[2]?.content ?? Buffer.of());
}

/** Signs certificates with a key of its own. */
export class TestIssuer {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  /** A certificate for this public key (DER) and these names: PEM. */
  certify(key: Buffer, names: readonly string[], { notBefore, notAfter }: CertificateLife): string {
    const algorithm = element(TAG.sequence, oid('ecdsaWithSha256'));
    const keyId = element(TAG.keyIdentifier, keyIdOf(this.#keys.publicKey));
    const body = element(
      TAG.sequence,
      element(TAG.version, integer(Buffer.of(2))),
      integer(Buffer.concat([Buffer.of(0x40), randomBytes(8)])),
      algorithm,
      element(TAG.sequence, named('Test Authority')),
      element(TAG.sequence, time(notBefore), time(notAfter)),
      element(TAG.sequence),
      key,
      element(
        TAG.extensions,
        element(
          TAG.sequence,
          subjectAltName(names),
          extension('authorityKeyIdentifier', false, element(TAG.sequence, keyId)),
        ),
      ),
    );
    const signature = bitString(sign('sha256', body, this.#keys.privateKey));
    return pem('CERTIFICATE', element(TAG.sequence, body, algorithm, signature));
  }

  /** What a certificate that it signed is called where its renewal is spoken of (RFC 9773 §4.1). */
  idOf(certificate: string): string {
    const serial = Buffer.from(new X509Certificate(certificate).serialNumber, 'hex');
    return `${keyIdOf(this.#keys.publicKey).toString('base64url')}.${serial.toString('base64url')}`;
  }
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().slice(2, 19).replace(/[-:T]/g, '');
  return element(TAG.utcTime, Buffer.from(`${text}Z`));
}

function named(text: string): Buffer {
  const name = element(TAG.sequence, oid('commonName'), element(TAG.utf8String, Buffer.from(text)));
  return element(TAG.set, name);
}

function keyIdOf(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}
