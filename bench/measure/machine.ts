import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';

/** What a result is worth without: where it was measured, and of what. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly kernel: string;
  /** Of memory, in GiB; records of before 2026-11-22 14:00 do not have it. */
  readonly memoryGiB?: number;
  /** With `-dirty` where anything but what a run itself writes differs from it. */
  readonly commit: string;
}

const GIB = 1024 ** 3;
/** A run adds its records and draws the page while it goes on. */
const WRITTEN = [
  'bench/results',
  'docs/benchmarks.md',
  'docs/images/benchmarks.svg',
  'docs/evidence.jsonl',
  'docs/evidence.md',
];

/** This machine, and the commit that is checked out. */
export function describeMachine(): Machine {
  const cpu = /^model name\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
  const memoryGiB = Math.round(os.totalmem() / GIB);
  return {
    cpu,
    cores: os.availableParallelism(),
    node: process.version,
    kernel: os.release(),
    memoryGiB,
    commit: commitHere(),
  };
}

function commitHere(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const others = WRITTEN.map((name) => `:!${name}`);
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', '.', ...others);
  return `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : '-dirty'}`;
}
