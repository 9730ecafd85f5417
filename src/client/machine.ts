/**
 * What the client asks of the machine it runs on: time, waiting, chance. The one file of the client that does;
 * tests give a machine of their own.
 */
export interface Machine {
  /** Wall-clock time in milliseconds since the Unix epoch: to read dates that servers give. */
  wall(): number;
  /** Milliseconds from an arbitrary start that only go forward: for time-outs. */
  mono(): number;
  /** Waits so many milliseconds, any number of them, or until `signal` aborts; resolves in both cases. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
  /** A text that nobody else will ever come up with, of 32 characters: a key for one call. */
  unique(): string;
}

const UNIQUE_BYTES = 16;
/** What timers count up to; one that is told more is over at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine there is. */
export const thisMachine: Machine = {
  wall: () => Date.now(),
  mono: () => performance.now(),
  sleep: async (ms, signal) => {
    for (let left = ms; left > 0 && !signal.aborted; left -= LONGEST_TIMER_MS)
      await timer(Math.min(left, LONGEST_TIMER_MS), signal);
  },
  random: () => Math.random(),
  unique: () => [...randomBytes()].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
};

function timer(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(handle);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const handle = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}

function randomBytes(): Uint8Array {
  const bytes = new Uint8Array(UNIQUE_BYTES);
  // Node.js 18 has no global crypto. The key need not be secret, only the caller's own.
  if (!('crypto' in globalThis)) return bytes.map(() => Math.floor(Math.random() * 256));
  return crypto.getRandomValues(bytes);
}
