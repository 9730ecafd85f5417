import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LoadReport } from './http-load.ts';

/** Where the load goes, and how much of it. */
export interface HttpLoad {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  readonly connections: number;
  readonly amount: { readonly seconds: number } | { readonly messages: number };
}

const PROGRAM = fileURLToPath(new URL('./http-load.ts', import.meta.url));

/** Runs the load in a process of its own. Throws when anything but 202 was answered. */
export async function runHttpLoad({ port, path, key, connections, amount }: HttpLoad): Promise<LoadReport> {
  const much = 'messages' in amount ? ['--messages', amount.messages] : ['--seconds', amount.seconds];
  const args = [PROGRAM, '--port', port, '--path', path, '--key', key, '--connections', connections, ...much];
  const { stdout } = await promisify(execFile)(process.execPath, args.map(String));
  const report = JSON.parse(stdout) as LoadReport;
  if (Object.keys(report.refused).length > 0) {
    throw new Error(`not every message was accepted: ${JSON.stringify(report.refused)}`);
  }
  return report;
}
