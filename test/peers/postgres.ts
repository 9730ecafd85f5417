import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import type { Certificate } from './certificate.ts';
import { freePort } from './free-port.ts';
import { locate } from './need.ts';

/** The programs it needs. */
export const POSTGRES_PROGRAMS = ['initdb', 'postgres'];

const MAX_LOG = 100_000;

/** Memory that looks like a disk, and how much of it must be free, in bytes: what is flushed to it costs nothing. */
const MEMORY = '/dev/shm';
const ROOM = 8 * 1024 ** 3;

/** A PostgreSQL of its own, in a temporary folder, behind a socket in it. */
export class Postgres {
  readonly #directory: string;
  readonly #owner: Owner | null;
  readonly #port: number | null;
  #child: ChildProcess | null = null;
  #admin: Client | null = null;
  #schemas = 0;
  #log = '';

  private constructor(directory: string, owner: Owner | null, port: number | null) {
    this.#directory = directory;
    this.#owner = owner;
    this.#port = port;
  }

  /**
   * Makes a cluster and starts it; resolves when it accepts connections. With a certificate it can also be reached at a port
   * of 127.0.0.1, in the clear or by TLS.
   */
  static async start(certificate: Certificate | null = null): Promise<Postgres> {
    const directory = mkdtempSync(join(folder(), 'waybill-postgres-'));
    // It refuses to run as root.
    const owner = process.getuid?.() === 0 ? ownerOf('postgres') : null;
    if (owner !== null) chownSync(directory, owner.uid, owner.gid);
    makeCluster(directory, owner);
    const server = new Postgres(directory, owner, certificate === null ? null : await freePort());
    if (certificate !== null) {
      server.put('server.crt', certificate.cert);
      server.put('server.key', certificate.key);
    }
    await server.up();
    return server;
  }

  /** Starts it; resolves when it accepts connections. */
  async up(): Promise<void> {
    const data = join(this.#directory, 'data');
    this.#child = spawn(locate('postgres') ?? '', ['-D', data, ...settings(this.#directory, this.#port)], {
      ...this.#owner,
      cwd: this.#directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#log = `${this.#log}${chunk}`.slice(-MAX_LOG);
    });
    await untilReady(this.#child);
    this.#admin = new Client({ connectionString: this.url() });
    // It is lost when the server goes down, and made anew when it comes up.
    this.#admin.on('error', () => {});
    await this.#admin.connect();
  }

  /** The end of what it has complained of, such as deadlocks and errors of statements. */
  get log(): string {
    return this.#log;
  }

  /** Ends it at once, and with it every connection; what was committed is kept. */
  async down(): Promise<void> {
    const ended = new Promise((resolve) => this.#child?.once('exit', resolve));
    this.#child?.kill('SIGQUIT');
    await ended;
  }

  /** Writes a file into its data directory. */
  put(name: string, text: string): void {
    const path = join(this.#directory, 'data', name);
    writeFileSync(path, text, { mode: 0o600 });
    if (this.#owner !== null) chownSync(path, this.#owner.uid, this.#owner.gid);
  }

  /** Where others find its socket. */
  get directory(): string {
    return this.#directory;
  }

  /** Its address at a port, if it was started with a certificate. */
  tcp(host = '127.0.0.1'): string {
    return `postgres://waybill@${host}:${this.#port}/postgres`;
  }

  /** The address of a database: of the one that is always there, unless it is named. */
  url(database = 'postgres'): string {
    const socket = `postgres://waybill@/${database}?host=${encodeURIComponent(this.#directory)}`;
    return this.#port === null ? socket : `${socket}&port=${this.#port}`;
  }

  /** The address of a database that shows nothing but a new, empty schema. */
  async schema(): Promise<string> {
    const name = `s${this.#schemas++}`;
    await this.run(`CREATE SCHEMA ${name}`);
    return `${this.url()}&options=-csearch_path%3D${name}`;
  }

  /** Runs statements as the owner of everything, in the schema of this address; returns the last one's rows. */
  async run(sql: string, url = ''): Promise<Record<string, unknown>[]> {
    const schema = /search_path%3D(\w+)/.exec(url)?.[1] ?? 'public';
    // Asked at once, so that nobody else's comes in between.
    const set = this.#admin?.query(`SET search_path = ${schema}`);
    const [, result] = await Promise.all([set, this.#admin?.query(sql)]);
    return [result].flat().at(-1)?.rows ?? [];
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    await this.down();
    rmSync(this.#directory, { recursive: true });
  }
}

/** Whom the server runs as. */
interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Clusters as initdb makes them, by its release, its options and their owner: to copy one takes a tenth of making one. */
const MADE = fileURLToPath(new URL('../../node_modules/.cache/postgres', import.meta.url));

/** Puts a cluster into the folder `data` of a directory. */
function makeCluster(directory: string, owner: Owner | null): void {
  // The order of the database's own texts is another than that of their bytes: nothing may rely on it.
  const locale = ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--locale=C.UTF-8'];
  const options = ['-U', 'waybill', '--auth=trust', '--no-sync', ...locale];
  const initdb = (...args: readonly string[]) => {
    const end = spawnSync(locate('initdb') ?? '', args, { ...owner, cwd: directory, encoding: 'utf8' });
    if (end.status !== 0) throw new Error(`initdb ended with ${end.status}:\n${end.stderr}`);
    return end.stdout.trim();
  };
  // With their owner: whoever may read it is part of a cluster.
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to]);
  const data = join(directory, 'data');
  const kind = [initdb('--version'), owner?.uid ?? process.getuid?.(), ...options].join('\n');
  const made = join(MADE, createHash('sha256').update(kind).digest('hex').slice(0, 16));
  if (existsSync(made)) {
    copy(made, data);
    return;
  }
  initdb('-D', data, ...options);
  mkdirSync(MADE, { recursive: true });
  const fresh = join(mkdtempSync(join(MADE, 'new-')), 'data');
  copy(data, fresh);
  try {
    renameSync(fresh, made);
  } catch (error) {
    // Another was quicker.
    if (!existsSync(made)) throw error;
  }
  rmSync(dirname(fresh), { recursive: true });
}

/** Where its data lies. */
function folder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ROOM ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Small and quick. It flushes what it commits, as it must for anybody to use it. */
function settings(directory: string, port: number | null): string[] {
  const atPort = { listen_addresses: '127.0.0.1', port: String(port), ssl: 'on' };
  const settings = {
    ...(port === null ? { listen_addresses: '' } : atPort),
    unix_socket_directories: directory,
    full_page_writes: 'off',
    shared_buffers: '64MB',
    max_connections: '100',
    autovacuum: 'off',
    deadlock_timeout: '100ms',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** A user of this machine. */
export function ownerOf(user: string): Owner {
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
    const listen = (chunk: string) => {
      log += chunk;
      if (!/ready to accept (read-only )?connections/.test(log)) return;
      child.stderr?.off('data', listen);
      resolve();
    };
    child.stderr?.on('data', listen);
    child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
  });
}
