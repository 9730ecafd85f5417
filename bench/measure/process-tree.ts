import { readdirSync, readFileSync } from 'node:fs';

/** What a process and all below it have used. */
export interface Usage {
  /** User and system time, of those that have ended too. */
  readonly cpuSeconds: number;
  /** Sum of the resident sets now. */
  readonly residentBytes: number;
  /** Sum of each process's peak; shared pages count once per process. */
  readonly peakBytes: number;
  /** Handed to the disk, or to be: pages made dirty, and what went past them; not the file system's own journal. */
  readonly writtenBytes: number;
}

/** /proc counts CPU time in these, on every Linux. */
const TICKS_PER_SECOND = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

/** Processes below `root`, itself first. Those that ended meanwhile are left out. */
export function processTree(root: number): number[] {
  return statsBelow(root).map((stat) => stat.pid);
}

/**
 * What the tree below `root` has used so far. A process that has ended is counted where its parent reaped it,
 * so that short-lived children are not lost as long as the parent lives.
 */
export function usageOf(root: number): Usage {
  const stats = statsBelow(root);
  const memory = stats.map((stat) => memoryOf(stat.pid));
  return {
    cpuSeconds: sum(stats.map((stat) => stat.ticks)) / TICKS_PER_SECOND,
    residentBytes: sum(memory.map((each) => each.resident)),
    peakBytes: sum(memory.map((each) => each.peak)),
    writtenBytes: sum(stats.map((stat) => writtenBy(stat.pid))),
  };
}

/** What several systems use together. */
export function together(usages: readonly Usage[]): Usage {
  return {
    cpuSeconds: sum(usages.map((usage) => usage.cpuSeconds)),
    residentBytes: sum(usages.map((usage) => usage.residentBytes)),
    peakBytes: sum(usages.map((usage) => usage.peakBytes)),
    writtenBytes: sum(usages.map((usage) => usage.writtenBytes)),
  };
}

function statsBelow(root: number): Stat[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => stat !== null);
  const tree = all.filter((stat) => stat.pid === root);
  for (const { pid } of tree) tree.push(...all.filter((stat) => stat.parent === pid));
  return tree;
}

/** See proc_pid_stat(5): the name may hold anything, so fields are counted from its closing parenthesis. */
function readStat(pid: number): Stat | null {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (text === '') return null;
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
  return {
    pid,
    parent: Number(fields[1]),
    ticks: (utime ?? 0) + (stime ?? 0) + (cutime ?? 0) + (cstime ?? 0),
  };
}

function memoryOf(pid: number): { resident: number; peak: number } {
  const status = readOrEmpty(`/proc/${pid}/status`);
  const bytes = (key: string) =>
    Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { resident: bytes('VmRSS'), peak: bytes('VmHWM') };
}

/** See proc_pid_io(5). Like CPU time it has that of children that were reaped. */
function writtenBy(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readOrEmpty(`/proc/${pid}/io`))?.[1] ?? 0);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
