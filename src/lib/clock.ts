import type { StopSignal } from './stop.ts';

/**
 * Time, passed in. This file and `random.ts` are the only server code that may ask the machine for the
 * time, set a timer or draw randomness; everything else receives a {@link Clock}, so that the whole
 * delivery engine runs under a virtual one.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch: for due dates and records, never for time-outs. */
  wall(): number;
  /** Monotonic time in milliseconds from an arbitrary start: for leases, time-outs and durations. */
  mono(): number;
  /**
   * Waits `ms` milliseconds of monotonic time, or until `signal` aborts. Resolves in both cases, never
   * rejects: a caller that must tell them apart looks at the signal. The only way to wait.
   */
  sleep(ms: number, signal?: StopSignal): Promise<void>;
}

/** Resolves when everything that is ready has had its turn: called between the slices of long work. */
export function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** The machine's clock. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  mono: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
    }),
};
