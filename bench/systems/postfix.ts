import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createCertificate } from '../../test/peers/certificate.ts';
import { freePort } from '../../test/peers/free-port.ts';
import { writePostfixFiles } from '../../test/peers/postfix-files.ts';
import { countFlushes, traced } from '../measure/flushes.ts';
import { usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import type { Relay, TakerOptions } from './system.ts';
import { untilListening } from './wait.ts';

const POSTFIX = '/usr/sbin/postfix';
const run = promisify(execFile);

/** Why Postfix cannot be measured here; null when it can. */
export function postfixMissing(): string | null {
  if (!existsSync(POSTFIX)) return 'Postfix is not installed';
  return process.getuid?.() === 0 ? null : 'Postfix can be started by root only';
}

/** Starts a Postfix of its own, on loopback only, that relays everything to `relayPort`. */
export async function startPostfix(options: TakerOptions): Promise<Relay> {
  const { directory } = options;
  const trace = path.join(directory, 'flushes.trace');
  const port = await freePort();
  const tls = options.tls ? await tlsSettings(directory) : '';
  const configuration = await writePostfixFiles({
    directory,
    port,
    settings: settings(options.relayPort) + tls,
  });
  const start = [POSTFIX, '-c', configuration, 'start-fg'];
  const child = await startChild(options.trace ? traced(start, trace) : start, {
    log: path.join(directory, 'postfix.log'),
  });
  await untilListening(port);
  const defer = async (transports: string): Promise<void> => {
    await run('/usr/sbin/postconf', ['-c', configuration, '-e', `defer_transports=${transports}`]);
    await run(POSTFIX, ['-c', configuration, 'reload']);
  };
  const flush = async (): Promise<void> => {
    await run('/usr/sbin/postqueue', ['-c', configuration, '-f']);
  };
  return {
    smtpPort: port,
    hold: () => defer('smtp'),
    release: async () => {
      await defer('');
      await flush();
    },
    flush,
    usage: () => usageOf(child.pid),
    flushes: () => (options.trace ? countFlushes(trace) : Number.NaN),
    stop: () => child.kill(),
  };
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

async function tlsSettings(directory: string): Promise<string> {
  const file = path.join(directory, 'server.pem');
  const { key, cert } = createCertificate({ hosts: ['127.0.0.1'] });
  await writeFile(file, `${key}${cert}`, { mode: 0o600 });
  return `smtpd_tls_security_level = may\nsmtpd_tls_chain_files = ${file}\nsmtpd_tls_session_cache_database =\n`;
}
