/** System calls of the real process that fail, or that it does not survive, by strace. */
import { spawn } from 'node:child_process';
import type { RunningServer } from '../peers/server.ts';

/**
 * The command that makes a system call of the command behind it fail, for `Installation.start`. The fault is
 * written as strace's `inject` has it, such as `fdatasync:error=EIO:when=12`; `when` counts for each thread by
 * itself. With `file`, only calls on that file fail. strace runs beside the program, not before it, so that
 * process id and exit status are the program's.
 */
export function underFault(fault: string, file: string | null = null): string[] {
  const quietly = ['--daemonize', '--follow-forks', '--output=/dev/null'];
  // It looks at these calls alone, which costs less, but cannot send a signal then.
  const aimed = fault.includes(':signal=') ? [] : ['--seccomp-bpf'];
  return ['strace', ...quietly, ...aimed, ...injection(fault, file)];
}

/** The same for a server that runs: from when this resolves on, it meets the fault, until the function is called or it ends. */
export async function strike(
  server: RunningServer,
  fault: string,
  file: string | null = null,
): Promise<() => Promise<void>> {
  const whom = ['--follow-forks', `--attach=${server.runtime.pid}`, '--output=/dev/null'];
  const strace = spawn('strace', [...whom, ...injection(fault, file)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => strace.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let said = '';
    strace.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (/attached/.test(said)) resolve();
    });
    strace.once('error', reject).once('exit', () => reject(new Error(`strace ended: ${said}`)));
  });
  return async () => {
    strace.kill('SIGTERM');
    await ended;
  };
}

/** The fault by which a process dies as it comes to a call: a thread's N-th. The call itself is not done. */
export function deathAt(call: string, n: number): string {
  return `${call}:signal=SIGKILL:when=${n}`;
}

function injection(fault: string, file: string | null): string[] {
  const [calls = ''] = fault.split(':', 1);
  const where = file === null ? [] : [`--trace-path=${file}`];
  return [...where, `--trace=${calls}`, `--inject=${fault}`];
}
