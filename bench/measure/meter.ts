import { MIB, type Sample } from '../scenarios/scenario.ts';
import type { System } from '../systems/system.ts';
import type { Usage } from './process-tree.ts';

/** What a system had used at a moment. */
export interface Reading {
  readonly usage: Usage;
  readonly flushes: number;
  /** Of `performance.now()`. */
  readonly at: number;
}

const KIB = 1024;

/** Reads what a system has used so far. */
export function readMeters(system: System): Reading {
  return { usage: system.usage(), flushes: system.flushes(), at: performance.now() };
}

/** What each message cost between two readings. */
export function costBetween(before: Reading, after: Reading, messages: number): Sample {
  const used = (of: keyof Usage) => after.usage[of] - before.usage[of];
  return {
    cpuSecondsPer1000: (used('cpuSeconds') / messages) * 1000,
    peakMemoryMiB: after.usage.peakBytes / MIB,
    writtenKiB: used('writtenBytes') / KIB / messages,
    flushesPerMessage: (after.flushes - before.flushes) / messages,
  };
}
