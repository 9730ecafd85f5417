import { randomFillSync } from 'node:crypto';

/** Randomness, injected, so that a seeded run repeats itself. */
export interface Random {
  /** A number in [0, 1). For jitter and choices, not for secrets. */
  next(): number;
  /** Fills and returns `target` with random bytes; the system's source is fit for secrets. */
  fill(target: Uint8Array): Uint8Array;
}

/** Random bytes are drawn from the system in batches: drawing ten costs as much as a thousand. */
const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** The machine's randomness. `fill` is cryptographically strong; no byte is returned twice. */
export const systemRandom: Random = {
  next: () => Math.random(),
  fill: (target) => {
    if (target.length > POOL_BYTES / 4) return randomFillSync(target);
    if (used + target.length > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    target.set(pool.subarray(used, used + target.length));
    pool.fill(0, used, used + target.length);
    used += target.length;
    return target;
  },
};

/** A repeatable generator (mulberry32) for simulations and tests: the same seed gives the same sequence. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    fill: (target) => {
      for (let i = 0; i < target.length; i++) target[i] = Math.floor(next() * 256);
      return target;
    },
  };
}
