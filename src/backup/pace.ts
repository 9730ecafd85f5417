import type { Clock } from '../lib/clock.ts';

/** Reporting, pacing and interrupting a backup's work. Counts are bytes. */
export interface Steps {
  /** This many bytes of the phase are done. Waits if that went too fast; throws if nobody waits any more. */
  done(bytes: number): Promise<void>;
}

/** The progress of a phase. */
export interface PhaseStep {
  readonly phase: 'database' | 'contents' | 'verify' | 'unpack' | 'mark';
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** How to pace work. */
export interface PaceOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly tell: (step: PhaseStep) => void;
  /** Bytes per second; null for no limit. */
  readonly bytesPerSecond: number | null;
}

/** How often progress is reported, in ms. */
const TELL_EVERY_MS = 250;

/** Begins a phase of this many bytes. */
export function beginPhase(options: PaceOptions, phase: PhaseStep['phase'], totalBytes: number): Steps {
  const { clock, signal, tell, bytesPerSecond } = options;
  const startedAt = clock.mono();
  let doneBytes = 0;
  let toldAt = startedAt;
  tell({ phase, doneBytes, totalBytes });
  return {
    done: async (bytes) => {
      doneBytes += bytes;
      signal.throwIfAborted();
      const now = clock.mono();
      if (now - toldAt >= TELL_EVERY_MS || doneBytes >= totalBytes) {
        toldAt = now;
        tell({ phase, doneBytes: Math.min(doneBytes, totalBytes), totalBytes });
      }
      if (bytesPerSecond === null) return;
      const aheadMs = (doneBytes / bytesPerSecond) * 1000 - (now - startedAt);
      if (aheadMs >= 1) await clock.sleep(aheadMs, signal);
    },
  };
}
