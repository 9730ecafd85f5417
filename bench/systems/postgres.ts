import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { locate } from '../../test/peers/need.ts';
import { type Usage, usageOf } from '../measure/process-tree.ts';
import { startChild } from './child.ts';
import { until } from './wait.ts';

/** A PostgreSQL of its own on a real disk, as it comes: it flushes what it commits. */
export interface BenchPostgres {
  /** The address of its one database. */
  readonly url: string;
  usage(): Usage;
  stop(): Promise<void>;
}

const run = promisify(execFile);
/** It refuses to run as root. */
const AS_POSTGRES = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'];

/** Why it cannot be measured here; null when it can. */
export function postgresMissing(): string | null {
  return locate('initdb') === null || locate('postgres') === null ? 'PostgreSQL is not installed' : null;
}

/** Makes one, and starts it behind a socket. */
export async function startPostgres(): Promise<BenchPostgres> {
  const isRoot = process.getuid?.() === 0;
  const prefix = isRoot ? AS_POSTGRES : [];
  const directory = await mkdtemp(path.join(os.tmpdir(), 'waybill-bench-postgres-'));
  if (isRoot) await run('chown', ['postgres:', directory]);
  const data = path.join(directory, 'data');
  const [program = '', ...args] = [...prefix, locate('initdb') ?? '', '-D', data, '-U', 'waybill'];
  await run(program, [...args, '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8'], { cwd: directory });
  const sockets = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${directory}`];
  const child = await startChild([...prefix, locate('postgres') ?? '', '-D', data, ...sockets], {
    log: path.join(os.tmpdir(), `${path.basename(directory)}.log`),
  });
  await until('PostgreSQL', 30, () => (child.output().includes('ready to accept connections') ? true : null));
  return {
    url: `postgres://waybill@/postgres?host=${encodeURIComponent(directory)}`,
    usage: () => usageOf(child.pid),
    stop: async () => {
      await child.kill();
      await rm(directory, { recursive: true, force: true });
      await rm(path.join(os.tmpdir(), `${path.basename(directory)}.log`), { force: true });
    },
  };
}
