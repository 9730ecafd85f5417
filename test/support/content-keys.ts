import { systemRandom } from '../../src/lib/random.ts';
import { type ContentKeys, contentKeys } from '../../src/spool/sealing.ts';

/** The keys of an installation with this `secret.key`, so to speak: the same for the same number. */
export function testKeys(encrypting = true, secret = 1): ContentKeys {
  const derive = () => new Uint8Array(32).fill(secret);
  return contentKeys({ keyId: secret.toString(16).padStart(16, '0'), derive }, encrypting, systemRandom);
}
