import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../test/peers/free-port.ts';
import { writePostfixFiles } from '../../test/peers/postfix-files.ts';
import { countFlushes, traced } from '../measure/flushes.ts';
import { usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import type { System, SystemOptions } from './system.ts';
import { untilListening } from './wait.ts';

/** Postfix while it runs. */
export interface Postfix extends System {
  readonly port: number;
}

const POSTFIX = '/usr/sbin/postfix';
const SMTP_SOURCE = '/usr/sbin/smtp-source';

/** Why Postfix cannot be measured here; null when it can. */
export function postfixMissing(): string | null {
  if (!existsSync(POSTFIX) || !existsSync(SMTP_SOURCE)) return 'Postfix is not installed';
  return process.getuid?.() === 0 ? null : 'Postfix can be started by root only';
}

/** Starts a Postfix of its own, on loopback only, that relays everything to `relayPort`. */
export async function startPostfix(
  options: SystemOptions & { readonly relayPort: number },
): Promise<Postfix> {
  const { directory } = options;
  const trace = path.join(directory, 'flushes.trace');
  const port = await freePort();
  const configuration = await writePostfixFiles({ directory, port, settings: settings(options.relayPort) });
  const start = [POSTFIX, '-c', configuration, 'start-fg'];
  const child = await startChild(options.trace ? traced(start, trace) : start, {
    log: path.join(directory, 'postfix.log'),
  });
  await untilListening(port);
  return {
    port,
    usage: () => usageOf(child.pid),
    flushes: () => (options.trace ? countFlushes(trace) : Number.NaN),
    stop: () => child.kill(),
  };
}

/** Feeds messages of 5 KB over 20 sessions; resolves when all are accepted. */
export async function runSmtpSource(port: number, messages: number): Promise<void> {
  const args = ['-s', '20', '-l', '5120', '-m', String(messages)];
  const mail = ['-f', 'sender@example.com', '-t', 'recipient@example.net'];
  await promisify(execFile)(SMTP_SOURCE, [...args, ...mail, `127.0.0.1:${port}`]);
}

/** What an operator would set who wants a fast relay and gives up nothing of its safety. */
function settings(relayPort: number): string {
  return `myhostname = bench.example.com
relayhost = [127.0.0.1]:${relayPort}
default_process_limit = 100
default_destination_concurrency_limit = 20
initial_destination_concurrency = 20
in_flow_delay = 0
`;
}
