/** `waybill dev`, as a script starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { expect, onTestFinished } from 'vitest';
import { MAIN } from './server.ts';

/** The line that it prints for scripts. */
export interface Access {
  readonly dashboard: string;
  readonly api: string;
  readonly smtp: { readonly host: string; readonly port: number };
  readonly key: string;
  readonly data: string;
  readonly temporary: boolean;
}

/** Ports that no other test has. */
const ANY_PORTS = { WAYBILL_API__PORT: '0', WAYBILL_WEBUI__PORT: '0', WAYBILL_LISTENER__PORTS: '0' };

/** Starts it for the test that calls it, which also ends it. */
export function launchDev(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYBILL_'));
  const env = { ...Object.fromEntries(inherited), ...ANY_PORTS, ...environment };
  const child = spawn(process.execPath, [MAIN, 'dev', ...args], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    printed.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    printed.err += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, printed, exited };
}

/** Starts it, and waits for that line. */
export async function startDev(args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) {
  const launched = launchDev(['--json', ...args], environment);
  const { printed, exited } = launched;
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  await expect.poll(() => isOver || printed.out.includes('\n'), { timeout: 60_000, interval: 20 }).toBe(true);
  if (isOver) throw new Error(`it ended: ${printed.err}`);
  const access: Access = JSON.parse(printed.out.slice(0, printed.out.indexOf('\n')));
  return { ...launched, access };
}

/** Ends it as Ctrl-C does; its exit status. */
export async function stopDev({ child, exited }: { child: ChildProcess; exited: Promise<number | null> }) {
  child.kill('SIGINT');
  return await exited;
}
