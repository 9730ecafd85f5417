import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryInUse, lockDirectory } from './lock.ts';

const LOCK = new URL('./lock.ts', import.meta.url).href;

/** Takes the lock in a process of its own, which keeps nothing of it but what the lock itself keeps. */
async function holder(folder: string): Promise<ChildProcess> {
  const program = `
    import { lockDirectory } from ${JSON.stringify(LOCK)};
    lockDirectory(${JSON.stringify(folder)}, process.pid);
    // What is collected is closed in a later turn.
    setImmediate(() => {
      globalThis.gc();
      setImmediate(() => process.stdout.write('held'));
    });
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

describe('the lock on the data directory', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-lock-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('refuses a second process, naming the first, until that one dies by SIGKILL', async () => {
    const child = await holder(folder);
    try {
      expect(() => lockDirectory(folder, process.pid)).toThrow(DirectoryInUse);
      expect(() => lockDirectory(folder, process.pid)).toThrow(
        `in use by process ${child.pid} (node). One process at a time works on a data directory: wait until it is done or end it (kill ${child.pid}, `,
      );
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    lockDirectory(folder, process.pid).release();
  });

  it('is free again after release', () => {
    lockDirectory(folder, 1).release();
    lockDirectory(folder, 2).release();
  });
});
