import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';

/** What a result is worth without: where it was measured, and of what. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly kernel: string;
  readonly commit: string;
}

/** This machine, and the commit that is checked out. */
export function describeMachine(): Machine {
  const cpu = /^model name\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  return { cpu, cores: os.availableParallelism(), node: process.version, kernel: os.release(), commit };
}
