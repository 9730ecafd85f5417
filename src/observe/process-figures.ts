import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../lib/clock.ts';

/** What the process uses. */
export interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Seconds. */
  readonly loopDelay: Readonly<Record<'mean' | 'p99' | 'max', number>>;
}

/** Reads the figures; {@link ProcessMeter.stop} ends measuring. */
export interface ProcessMeter {
  read(): ProcessFigures;
  stop(): void;
}

const RESOLUTION_MS = 20;
/** Delays are gathered over at least this long, so that several scrapers see the same figures. */
const WINDOW_MS = 10_000;
const NS_PER_SECOND = 1e9;

/** Begins to measure how late the event loop is. */
export function createProcessMeter(clock: Pick<Clock, 'mono'>): ProcessMeter {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  monitor.enable();
  let windowStart = clock.mono();
  let loopDelay = readDelay(monitor);
  return {
    read: () => {
      if (clock.mono() - windowStart >= WINDOW_MS) {
        loopDelay = readDelay(monitor);
        monitor.reset();
        windowStart = clock.mono();
      }
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed } = process.memoryUsage();
      return { cpuSeconds: (user + system) / 1e6, residentBytes: rss, heapBytes: heapUsed, loopDelay };
    },
    stop: () => {
      monitor.disable();
    },
  };
}

/** What was measured, less the interval at which it was: a loop that is never late has 0. */
function readDelay(monitor: ELDHistogram): ProcessFigures['loopDelay'] {
  if (monitor.count === 0) return { mean: 0, p99: 0, max: 0 };
  const late = (ns: number) => Math.max(0, ns / NS_PER_SECOND - RESOLUTION_MS / 1000);
  return { mean: late(monitor.mean), p99: late(monitor.percentile(99)), max: late(monitor.max) };
}
