import type { DomainKey, SendingDomain } from '../../src/domain/domain-keys.ts';

/** A domain with a key that is said to sign. Nothing can be signed by it: it is for judging only. */
export function signedDomain(name: string): SendingDomain {
  const key: DomainKey = {
    selector: 's1',
    algorithm: 'ed25519-sha256',
    publicKey: 'x',
    privateKey: 'y',
    createdAt: 1,
    activeSince: 2,
    retiredAt: null,
  };
  return { name, since: 1, keys: [key], returnPath: null };
}
