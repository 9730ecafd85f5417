import { suppressedOf, suppressionKeys } from '../../domain/suppressed-address.ts';

/**
 * Says for nearly all recipients that no entry of the suppression list can be about them, without asking the database:
 * a Bloom filter over the addresses of all entries. What is removed from the list stays in it until the next start,
 * and costs a look into the list.
 */
export class SuppressionFilter {
  /** Pages that nothing was entered into take no memory. */
  readonly #bits = new Uint32Array(BITS / 32);
  #isLoaded = false;
  #hasPatterns = false;
  #changes = 0;

  /** Rises with each entry; what was found to be clear is clear while it stands. */
  get changes(): number {
    return this.#changes;
  }

  /** Every entry that stood when loading began was entered. Until then nobody is known to be clear. */
  loaded(): void {
    this.#isLoaded = true;
  }

  /** Enters the address of an entry, in its normal form, before it is added to the list. */
  add(address: string): void {
    this.#changes++;
    this.#hasPatterns ||= address.startsWith('*@');
    const [first, second] = hashesOf(address);
    for (let round = 0; round < ROUNDS; round++) {
      const bit = (first + Math.imul(round, second)) & (BITS - 1);
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  /** Whether an entry may stop a recipient. */
  mayStop(recipient: string): boolean {
    if (!this.#isLoaded) return true;
    if (this.#changes === 0) return false;
    if (!this.#hasPatterns) return this.#mayHave(suppressedOf(recipient).address);
    return suppressionKeys(recipient).some((key) => this.#mayHave(key));
  }

  #mayHave(address: string): boolean {
    const [first, second] = hashesOf(address);
    for (let round = 0; round < ROUNDS; round++) {
      const bit = (first + Math.imul(round, second)) & (BITS - 1);
      if (((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}

/** 16 MiB: of 5,000,000 entries, one recipient in 2,000 is looked up in vain. */
const BITS = 2 ** 27;
const ROUNDS = 4;

/** Two hashes (FNV-1a, with two offsets); the second is odd, so that its multiples meet all bits. */
function hashesOf(text: string): readonly [first: number, second: number] {
  let first = 0x811c9dc5;
  let second = 0x01000193;
  for (let place = 0; place < text.length; place++) {
    const unit = text.charCodeAt(place);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x85ebca6b);
  }
  return [mixed(first), mixed(second) | 1];
}

/** Spreads what FNV leaves in the high bits. */
function mixed(hash: number): number {
  let spread = hash ^ (hash >>> 16);
  spread = Math.imul(spread, 0x7feb352d);
  spread ^= spread >>> 15;
  return Math.imul(spread, 0x846ca68b) ^ (spread >>> 16);
}
