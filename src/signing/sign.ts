import { createHash, sign, verify } from 'node:crypto';
import type { SigningKey } from './keys.ts';

/**
 * Signatures by RSA under way at once. They are made in the pool of threads in which files are read and flushed as well, which has
 * four: with more, flushes would wait behind them. The mail that waits for one is bounded by the intake.
 */
export const MAX_UNDER_WAY = 3;

/** Makes signatures: RSA's beside the event loop, a few at once. */
export class Signing {
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  /** How many are made now. */
  get underWay(): number {
    return this.#underWay;
  }

  /** The signature, base64. The same input always gets the same. Rejects when the key cannot be used. */
  async sign(key: SigningKey, input: Buffer): Promise<string> {
    const privateKey = key.privateKey();
    // It costs less than the way to the pool and back, and mail that is accepted together stays together.
    if (key.algorithm === 'ed25519-sha256') return sign(null, digestOf(input), privateKey).toString('base64');
    if (this.#underWay >= MAX_UNDER_WAY) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underWay += 1;
    try {
      return await new Promise<string>((resolve, reject) => {
        const done = (error: Error | null, signature: Buffer) =>
          error === null ? resolve(signature.toString('base64')) : reject(error);
        sign('sha256', input, privateKey, done);
      });
    } finally {
      const next = this.#waiting.shift();
      // The place goes to whoever waits, without becoming free.
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }
}

/** Whether a key made this signature (base64). False when the key cannot be used. */
export function isSignedBy(key: SigningKey, input: Buffer, signature: string): boolean {
  try {
    const bytes = Buffer.from(signature, 'base64');
    if (key.algorithm === 'rsa-sha256') return verify('sha256', input, key.publicKey(), bytes);
    return verify(null, digestOf(input), key.publicKey(), bytes);
  } catch {
    return false;
  }
}

/** RFC 8463 §3: Ed25519 signs the sum of what is signed. */
function digestOf(input: Buffer): Buffer {
  return createHash('sha256').update(input).digest();
}
