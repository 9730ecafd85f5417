import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { locate } from './need.ts';

/** The programs it needs. */
export const POSTGRES_PROGRAMS = ['initdb', 'postgres'];

/** A PostgreSQL of its own, in a temporary folder, behind a socket in it. What it loses when it is killed is nobody's. */
export class Postgres {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #admin: Client;
  #schemas = 0;

  private constructor(child: ChildProcess, directory: string, admin: Client) {
    this.#admin = admin;
    this.#child = child;
    this.#directory = directory;
  }

  /** Makes a cluster and starts it; resolves when it accepts connections. */
  static async start(): Promise<Postgres> {
    const directory = mkdtempSync(join(tmpdir(), 'waybill-postgres-'));
    // It refuses to run as root.
    const owner = process.getuid?.() === 0 ? ownerOf('postgres') : null;
    if (owner !== null) chownSync(directory, owner.uid, owner.gid);
    const data = join(directory, 'data');
    // The order of the database's own texts is another than that of their bytes: nothing may rely on it.
    const locale = ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--locale=C.UTF-8'];
    const made = spawnSync(
      locate('initdb') ?? '',
      ['-D', data, '-U', 'waybill', '--auth=trust', '--no-sync', ...locale],
      { ...owner, cwd: directory, encoding: 'utf8' },
    );
    if (made.status !== 0) throw new Error(`initdb ended with ${made.status}:\n${made.stderr}`);
    const child = spawn(locate('postgres') ?? '', ['-D', data, ...settings(directory)], {
      ...owner,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await untilReady(child);
    const admin = new Client({ connectionString: urlOf(directory) });
    await admin.connect();
    return new Postgres(child, directory, admin);
  }

  /** The address of a database that shows nothing but a new, empty schema. */
  async schema(): Promise<string> {
    const name = `s${this.#schemas++}`;
    await this.run(`CREATE SCHEMA ${name}`);
    return `${urlOf(this.#directory)}&options=-csearch_path%3D${name}`;
  }

  /** Runs statements as the owner of everything, in the schema of this address; returns the last one's rows. */
  async run(sql: string, url = ''): Promise<Record<string, unknown>[]> {
    const schema = /search_path%3D(\w+)/.exec(url)?.[1] ?? 'public';
    const results = [await this.#admin.query(`SET search_path = ${schema}; ${sql}`)].flat();
    return results.at(-1)?.rows ?? [];
  }

  /** Kills it and removes its folder. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    await this.#admin.end();
    // It ends at once, and its connections' processes with it.
    this.#child.kill('SIGQUIT');
    await ended;
    rmSync(this.#directory, { recursive: true });
  }
}

function urlOf(directory: string): string {
  return `postgres://waybill@/postgres?host=${encodeURIComponent(directory)}`;
}

/** Small, quick, and without any care for what a power failure would do. */
function settings(directory: string): string[] {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: directory,
    fsync: 'off',
    full_page_writes: 'off',
    shared_buffers: '64MB',
    max_connections: '50',
    autovacuum: 'off',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function ownerOf(user: string): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${user}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`there is no user ${user}`);
  return { uid: Number(uid), gid: Number(gid) };
}

/** Resolves when the server says that it is ready. */
async function untilReady(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      log = `${log}${chunk}`.slice(-10_000);
      if (log.includes('ready to accept connections')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
  });
}
