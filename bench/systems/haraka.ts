import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../../test/peers/free-port.ts';
import { countFlushes, traced } from '../measure/flushes.ts';
import { usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import { PEERS, peersMissing } from './peers.ts';
import type { Taker, TakerOptions } from './system.ts';
import { untilListening } from './wait.ts';

const PACKAGE = path.join(PEERS, 'node_modules/Haraka');
const PROGRAM = path.join(PACKAGE, 'bin/haraka');

/** Why Haraka cannot be measured here; null when it can. */
export function harakaMissing(): string | null {
  return existsSync(PROGRAM) ? null : peersMissing('Haraka');
}

/** Starts a Haraka of its own, on loopback only, that queues everything on disk and relays it to `relayPort`. */
export async function startHaraka({ directory, relayPort, trace }: TakerOptions): Promise<Taker> {
  const port = await freePort();
  const traceFile = path.join(directory, 'flushes.trace');
  const home = path.join(directory, 'haraka');
  for (const folder of ['config', 'plugins', 'queue'])
    await mkdir(path.join(home, folder), { recursive: true });
  // It does not start to talk without this file: all its usual limits.
  const limits = 'config/connection.ini';
  await copyFile(path.join(PACKAGE, limits), path.join(home, limits));
  const files = { ...configuration(port), 'plugins/bench.js': plugin(relayPort) };
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(home, name), content);
  const command = [process.execPath, PROGRAM, '-c', home];
  const child = await startChild(trace ? traced(command, traceFile) : command, {
    log: path.join(directory, 'haraka.log'),
    env: { NODE_ENV: 'production' },
  });
  await untilListening(port);
  return {
    smtpPort: port,
    usage: () => usageOf(child.pid),
    flushes: () => (trace ? countFlushes(traceFile) : Number.NaN),
    stop: () => child.kill(),
  };
}

/** A process for each core, the same 20 connections to the next hop as all have, and no log of what goes well. */
function configuration(port: number): Readonly<Record<string, string>> {
  return {
    'config/smtp.ini': `listen=127.0.0.1:${port}\nnodes=cpus\n`,
    'config/outbound.ini': 'concurrency_max=10\nenable_tls=false\nlocal_mx_ok=true\nconnect_timeout=600\n',
    'config/log.ini': '[main]\nlevel=warn\n',
    'config/me': 'bench.example.com\n',
    'config/plugins': 'bench\n',
  };
}

/** Whoever connects may relay, and is not looked up; everything goes to one next hop. */
function plugin(relayPort: number): string {
  return `exports.hook_lookup_rdns = (next) => next(OK, 'localhost');
exports.hook_connect = (next, connection) => {
  connection.relaying = true;
  next();
};
exports.hook_rcpt = (next) => next(OK);
exports.hook_get_mx = (next) => next(OK, { priority: 0, exchange: '127.0.0.1', port: ${relayPort} });
`;
}
