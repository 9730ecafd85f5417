import { createHmac } from 'node:crypto';
import { toBase32 } from './id.ts';

/** How the key is derived from `secret.key`: the `info` of HKDF. */
export const PSEUDONYM_INFO = 'waybill pseudonym';

/** `ERASED_DOMAIN` of `domain/erasing.ts`. */
const DOMAIN = 'erased.invalid';
/** 120 bits: no two people share a pseudonym, and nobody guesses one. */
const BYTES = 15;

/** The pseudonyms of erased people. Who does not have the key can neither make one nor test a guess. */
export class Pseudonyms {
  #key: Uint8Array | null = null;

  /** Holds the key that is derived with {@link PSEUDONYM_INFO}. */
  hold(key: Uint8Array): void {
    this.#key = key;
  }

  /** The pseudonym of an address in its normal form (`suppressedOf`); null: the key is not known. */
  of(address: string): string | null {
    if (this.#key === null) return null;
    const mac = createHmac('sha256', this.#key).update(address).digest().subarray(0, BYTES);
    return `erased-${toBase32(mac)}@${DOMAIN}`;
  }
}
