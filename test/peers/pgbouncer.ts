import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { locate } from './need.ts';
import { ownerOf, type Postgres } from './postgres.ts';

/** The programs it needs, beside those of the server. */
export const PGBOUNCER_PROGRAMS = ['pgbouncer'];

/** Connections to the server, which all transactions share: fewer than whoever asks has connections to it. */
export const POOL_SIZE = 3;

/** A PgBouncer that gives each transaction any of few connections (pgbouncer.org, pool_mode = transaction). */
export class PgBouncer {
  readonly #directory: string;
  readonly #port: number;
  readonly #child: ChildProcess;

  private constructor(directory: string, port: number, child: ChildProcess) {
    this.#directory = directory;
    this.#port = port;
    this.#child = child;
  }

  /** Starts one before a server; resolves when it accepts connections. */
  static async start(server: Postgres): Promise<PgBouncer> {
    const directory = mkdtempSync(join(tmpdir(), 'waybill-pgbouncer-'));
    const port = await freePort();
    const file = join(directory, 'pgbouncer.ini');
    writeFileSync(file, configuration(server, port));
    // It refuses to run as root.
    const owner = process.getuid?.() === 0 ? ownerOf('postgres') : null;
    if (owner !== null) for (const path of [directory, file]) chownSync(path, owner.uid, owner.gid);
    const child = spawn(locate('pgbouncer') ?? '', [file], {
      ...owner,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await untilUp(child);
    return new PgBouncer(directory, port, child);
  }

  /** Its address. */
  url(): string {
    return `postgres://waybill@127.0.0.1:${this.#port}/postgres`;
  }

  /** Ends it at once, and with it every connection. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
    rmSync(this.#directory, { recursive: true });
  }
}

/** Nothing is made easier for clients than it is by default: unknown parameters are refused. */
function configuration(server: Postgres, port: number): string {
  return `[databases]
postgres = host=${server.directory} user=waybill

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${POOL_SIZE}
server_login_retry = 0.2
`;
}

/** Resolves when it says that it is there. */
async function untilUp(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      log = `${log}${chunk}`.slice(-10_000);
      if (log.includes('process up')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`PgBouncer ended with ${code}:\n${log}`)));
  });
}
