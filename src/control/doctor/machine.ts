import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { open, readdir, readFile, readlink, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { bindAll, ListenError } from '../../lib/listen.ts';
import { describeReply, ReplyParser } from '../../smtp/reply.ts';
import type { Dialogue, DialoguePeer, Machine, RuntimePorts } from './premises.ts';

/** Most flushes to try: a fast disk does this many long before the time is up. */
const MAX_FLUSHES = 200;
const FLUSH_BYTES = 4096;
/** statfs(2): file systems in memory. */
const MEMORY_FILE_SYSTEMS = [0x01021994, 0x858458f6];
/** The name of a test file in the data directory. */
const TRIAL = '.doctor';
const TIMEDATECTL_LIMIT_MS = 2_000;

/** This machine, as described by Linux. */
export function realMachine(clock: Clock): Machine {
  return {
    tryPort,
    portOwner,
    firstFreePort: () => numberIn('/proc/sys/net/ipv4/ip_unprivileged_port_start', /(\d+)/),
    flushTimes: (folder, budgetMs) => flushTimes(folder, budgetMs, clock),
    space: async (folder) => {
      const { bavail, blocks, bsize } = await statfs(folder);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    },
    inMemory: async (folder) => MEMORY_FILE_SYSTEMS.includes((await statfs(folder)).type),
    fileTime,
    builtAt: () => statSync(import.meta.filename).mtimeMs,
    clockSynchronised,
    maxOpenFiles: () => numberIn('/proc/self/limits', /^Max open files\s+(\d+)/m),
    availableMemory: () => process.availableMemory(),
    addresses: ownAddresses,
    gateway,
    inContainer: () => existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
    fileMode: (path) => statSync(path, { throwIfNoEntry: false })?.mode ?? null,
    readFile: (path) => readFileSync(path, 'utf8'),
    knock,
    dialogue,
  };
}

async function knock(url: string, signal: AbortSignal): Promise<number | string> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return cause instanceof Error ? cause.message : String(cause);
  }
}

async function tryPort(hosts: readonly string[], port: number) {
  try {
    const { servers } = await bindAll(
      hosts,
      port,
      () => createServer(),
      () => {},
    );
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    return 'free';
  } catch (error) {
    return error instanceof ListenError ? error.code : 'listen_failed';
  }
}

async function flushTimes(folder: string, budgetMs: number, clock: Clock): Promise<readonly number[]> {
  const path = join(folder, `${TRIAL}-flush-${process.pid}`);
  const file = await open(path, 'w', 0o600);
  try {
    const piece = Buffer.alloc(FLUSH_BYTES, 'w');
    const times: number[] = [];
    const end = clock.mono() + budgetMs;
    while (times.length < MAX_FLUSHES && (times.length === 0 || clock.mono() < end)) {
      await file.write(piece);
      const begun = clock.mono();
      await file.datasync();
      times.push(clock.mono() - begun);
    }
    return times;
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

async function fileTime(folder: string): Promise<number> {
  const path = join(folder, `${TRIAL}-time-${process.pid}`);
  try {
    await writeFile(path, '', { mode: 0o600 });
    return (await stat(path)).mtimeMs;
  } finally {
    await rm(path, { force: true });
  }
}

/** According to systemd. Without systemd, unknown. */
function clockSynchronised(signal: AbortSignal): Promise<boolean | null> {
  const args = ['show', '--property=NTPSynchronized', '--value'];
  // Our own environment may contain passwords, such as that of `database.url`.
  const env = { PATH: process.env['PATH'] };
  return new Promise((resolve) => {
    execFile('timedatectl', args, { timeout: TIMEDATECTL_LIMIT_MS, signal, env }, (error, output) => {
      const word = error === null ? output.trim() : '';
      resolve(word === 'yes' || (word === 'no' ? false : null));
    });
  });
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address);
}

/** The default IPv4 gateway: eight hexadecimal digits, the last byte first (proc(5)). */
function gateway(): string | null {
  const routes = textOf('/proc/net/route')
    .split('\n')
    .map((line) => line.split(/\s+/));
  const hex = routes.find(([, destination, via]) => destination === '00000000' && via !== '00000000')?.[2];
  return hex === undefined ? null : Buffer.from(hex, 'hex').reverse().join('.');
}

function numberIn(path: string, pattern: RegExp): number | null {
  const found = pattern.exec(textOf(path))?.[1];
  return found === undefined ? null : Number(found);
}

/** The text of a system file; empty if there is none. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Characters of a reply to keep. */
const MAX_REPLY = 300;

/**
 * Connects to a port and sends line by line, each after the reply to the one before; ends after the first refusal.
 * Never rejects: when `signal` aborts, it returns the replies so far.
 */
function dialogue(
  { host, port, from }: DialoguePeer,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<Dialogue> {
  return new Promise((resolve) => {
    const replies: string[] = [];
    const waiting = [...lines];
    const parser = new ReplyParser();
    let connected = false;
    // After this, remaining input belongs to the farewell.
    let over = false;
    const socket = connect({ host, port, ...(from !== undefined && { localAddress: from }) });
    const end = () => {
      socket.destroy();
      resolve({ connected, replies });
    };
    signal.addEventListener('abort', end, { once: true });
    socket.on('connect', () => {
      connected = true;
    });
    socket.on('error', end).on('close', end);
    socket.on('data', (chunk: Buffer) => {
      parser.push(chunk);
      for (let reply = parser.next(); reply !== null && !over; reply = parser.next()) {
        replies.push(describeReply(reply, MAX_REPLY));
        const line = reply.code < 400 ? waiting.shift() : undefined;
        over = line === undefined;
        if (line === undefined) socket.end('QUIT\r\n');
        else socket.write(`${line}\r\n`);
      }
      if (parser.fault !== null) end();
    });
  });
}

/** State of a socket that listens (include/net/tcp_states.h). */
const LISTENING = '0A';

/** The process that listens on a TCP port, such as `master (process 812)`; null if there is none, or it is hidden. */
export async function portOwner(port: number): Promise<string | null> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(ownerText));
  const inodes = new Set(tables.flatMap((table) => listeners(table, port)));
  if (inodes.size === 0) return null;
  const sockets = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  for (const process of await namesIn('/proc')) {
    if (!/^\d+$/.test(process)) continue;
    if (!(await hasOne(process, sockets))) continue;
    return `${await nameOf(process)} (process ${process})`;
  }
  return null;
}

/** Node.js's name for a process's first thread, which the kernel uses as the process's name. */
const NO_NAME = 'MainThread';

async function nameOf(process: string): Promise<string> {
  const name = (await ownerText(`/proc/${process}/comm`)).trim();
  if (name !== NO_NAME && name !== '') return name;
  const program = await readlink(`/proc/${process}/exe`).catch(() => '');
  return program === '' ? 'a program' : basename(program);
}

/** Inodes of the sockets that listen on a port, from a kernel table (proc(5)). */
function listeners(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    const [, local = '', , state] = columns;
    return local.endsWith(ending) && state === LISTENING ? (columns[9] ?? []) : [];
  });
}

async function hasOne(process: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${process}/fd`;
  for (const descriptor of await namesIn(folder)) {
    const target = await readlink(`${folder}/${descriptor}`).catch(() => '');
    if (sockets.has(target)) return true;
  }
  return false;
}

/** The entries of a folder; none if we may not read it, or it has just gone. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return await readdir(folder).catch(() => []);
}

async function ownerText(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '');
}

const port = z.int().min(1).max(65_535);

const runtimeSchema = z.object({
  pid: z.int(),
  version: z.string(),
  api: port.nullable(),
  apiTls: port.nullable(),
  webui: port.nullable(),
  smtp: z.array(port),
  smtpTls: z.array(port),
}) satisfies z.ZodType<RuntimePorts>;

/** Reads `runtime.json`; null if it is missing, or no server wrote it. */
export function readRuntime(file: string): RuntimePorts | null {
  try {
    return runtimeSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
