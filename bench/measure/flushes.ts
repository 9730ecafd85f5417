import { existsSync, readFileSync } from 'node:fs';

/** The calls that wait for the disk. */
const FLUSH_CALLS = ['fsync', 'fdatasync', 'sync_file_range', 'syncfs', 'msync'];

/** Whether flushes can be counted here. */
export function canTrace(): boolean {
  return existsSync('/usr/bin/strace');
}

/**
 * The command line that runs `command` with its flushes written to `traceFile`, a line each. The filter sits in
 * the kernel, so that other calls run untouched; the run is still not one to take times from.
 */
export function traced(command: readonly string[], traceFile: string): string[] {
  const calls = `trace=${FLUSH_CALLS.join(',')}`;
  return [
    'strace',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-e',
    'signal=none',
    '-e',
    calls,
    '-o',
    traceFile,
    ...command,
  ];
}

/** How many flushes a trace has so far. */
export function countFlushes(traceFile: string): number {
  const trace = readFileSync(traceFile, 'utf8');
  return trace.split('\n').filter((line) => /^\d+ +\w+\(/.test(line)).length;
}
