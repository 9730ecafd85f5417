import type { Clock } from '../lib/clock.ts';

/** How a backup's work is told of, paced and broken off. Counts are bytes. */
export interface Steps {
  /** So much has been done of the phase under way. Waits where that went too fast; throws when nobody waits any more. */
  done(bytes: number): Promise<void>;
}

/** How far a phase is. */
export interface PhaseStep {
  readonly phase: 'database' | 'contents' | 'verify' | 'unpack' | 'mark';
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** What paces work. */
export interface PaceOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly tell: (step: PhaseStep) => void;
  /** Bytes a second; null for as fast as it goes. */
  readonly bytesPerSecond: number | null;
}

/** A step is told of so often. */
const TELL_EVERY_MS = 250;

/** Begins a phase of so many bytes. */
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
