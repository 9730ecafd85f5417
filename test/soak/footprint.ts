/** What a process holds of the machine, as the kernel counts it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Resident memory of a process, in MiB. */
export function residentMiB(pid: number): number {
  const [, kiB = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kiB) / 1024;
}

/** What a process has open, and how often: files by their path, sockets and pipes by their kind. */
export function openFiles(pid: number): Map<string, number> {
  const open = new Map<string, number>();
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    const target = targetOf(`/proc/${pid}/fd/${name}`);
    if (target !== null) open.set(target, (open.get(target) ?? 0) + 1);
  }
  return open;
}

/** Null: closed meanwhile. */
function targetOf(link: string): string | null {
  try {
    return readlinkSync(link).replace(/:\[\d+\]$/, '');
  } catch {
    return null;
  }
}
