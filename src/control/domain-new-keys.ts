/** New keys for signing. */
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { newSelector, selectorLetter } from '../domain/domain-keys.ts';
import type { DkimAlgorithm, DomainKey, SendingDomain } from '../domain/sending-domain.ts';

/** RFC 8301 §3.2 asks for 1024 at least; what is longer does not fit into one string, or one datagram, everywhere. */
const RSA_BITS = 2048;
/** RFC 8410 §4: so many octets of a public key's DER are the key itself (RFC 8463 §4 wants it alone). */
const ED25519_BYTES = 32;

/** What new keys are made for. */
export interface NewKeysOrder {
  /** The domain that gets them; null when it is new. */
  readonly domain: SendingDomain | null;
  readonly algorithms: readonly DkimAlgorithm[];
  /** Null: made of the day. With more than one algorithm a letter follows. */
  readonly selector: string | null;
  /** Wall ms. */
  readonly now: number;
}

/** The selector of each algorithm's key. */
export function selectorsFor({ domain, algorithms, selector, now }: NewKeysOrder): readonly string[] {
  return algorithms.map((algorithm) => {
    if (selector === null) return newSelector(domain, algorithm, now);
    return algorithms.length > 1 ? selector + selectorLetter(algorithm) : selector;
  });
}

/** Makes a key for each algorithm, off the event loop. They wait. */
export async function newKeys(order: NewKeysOrder): Promise<readonly DomainKey[]> {
  const selectors = selectorsFor(order);
  return await Promise.all(
    order.algorithms.map(async (algorithm, at): Promise<DomainKey> => {
      const pair = algorithm === 'rsa-sha256' ? await rsaPair() : await ed25519Pair();
      const life = { createdAt: order.now, activeSince: null, retiredAt: null };
      return { selector: selectors[at] ?? '', algorithm, ...pair, ...life };
    }),
  );
}

type Pair = Pick<DomainKey, 'publicKey'> & { readonly privateKey: string };

function rsaPair(): Promise<Pair> {
  return new Promise((resolve, reject) => {
    generateKeyPair('rsa', { modulusLength: RSA_BITS }, (error, publicKey, privateKey) => {
      if (error) reject(error);
      else resolve({ publicKey: derOf(publicKey).toString('base64'), privateKey: secretOf(privateKey) });
    });
  });
}

function ed25519Pair(): Promise<Pair> {
  return new Promise((resolve, reject) => {
    generateKeyPair('ed25519', undefined, (error, publicKey, privateKey) => {
      if (error) return reject(error);
      const raw = derOf(publicKey).subarray(-ED25519_BYTES);
      resolve({ publicKey: raw.toString('base64'), privateKey: secretOf(privateKey) });
    });
  });
}

function derOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function secretOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'der' }).toString('base64');
}
