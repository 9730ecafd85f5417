import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { processTree } from '../measure/process-tree.ts';

/** How a process is started. */
export interface ChildOptions {
  /** Where its output goes. */
  readonly log: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A process of ours, with all that it starts. */
export interface Child {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Its output so far. */
  output(): string;
  /** Ends it and all below it at once. What it would have saved is lost: its files are thrown away anyway. */
  kill(): Promise<void>;
}

const running = new Set<Child>();

/** Starts a process. Throws when it cannot be started. */
export async function startChild(
  command: readonly string[],
  { log, env = {} }: ChildOptions,
): Promise<Child> {
  const [program = '', ...args] = command;
  const output = openSync(log, 'a');
  const process_ = spawn(program, args, {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
  });
  closeSync(output);
  const pid = await started(process_);
  const ended = new Promise<void>((resolve) => process_.once('exit', () => resolve()));
  const child: Child = {
    pid,
    ended,
    output: () => readFileSync(log, 'utf8'),
    kill: async () => {
      killTree(pid);
      await ended;
    },
  };
  running.add(child);
  ended.then(
    () => running.delete(child),
    () => {},
  );
  return child;
}

/** Ends whatever is still running: for the way out when something went wrong. */
export async function killAll(): Promise<void> {
  await Promise.all([...running].map((child) => child.kill()));
}

function started(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
}

/** Stops the tree first, so that a parent does not replace the children it loses. */
function killTree(root: number): void {
  for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
    for (const pid of processTree(root)) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended by itself.
      }
    }
  }
}
