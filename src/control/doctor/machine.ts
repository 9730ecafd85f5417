import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { open, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { bindAll, ListenError } from '../../lib/listen.ts';
import { describeReply, ReplyParser } from '../../smtp/reply.ts';
import { portOwner } from './port-owner.ts';
import type { Dialogue, Machine } from './premises.ts';

/** Flushes tried at most: a fast disk does that many long before the budget is spent. */
const MAX_FLUSHES = 200;
const FLUSH_BYTES = 4096;
/** statfs(2): file systems that are memory. */
const MEMORY_FILE_SYSTEMS = [0x01021994, 0x858458f6];
/** What a trial file in the data directory is called. */
const TRIAL = '.doctor';
const TIMEDATECTL_LIMIT_MS = 2_000;

/** This machine, as Linux tells of it. */
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
    dialogue,
  };
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

/** As systemd has it. Where it does not run, nobody can be asked. */
function clockSynchronised(signal: AbortSignal): Promise<boolean | null> {
  const args = ['show', '--property=NTPSynchronized', '--value'];
  // Our own environment may have passwords in it, such as that of `database.url`.
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

/** The default route's, of IPv4: eight hexadecimal digits, the last byte first (proc(5)). */
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

/** The text of a file of the system; empty where there is none. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Characters of a reply that are told. */
const MAX_REPLY = 300;

/**
 * Connects to a port of this machine from one of its addresses, and sends line by line, each after the reply to the one
 * before; ends after the first that is refused. Never rejects: when `signal` aborts, it has what it heard until then.
 */
function dialogue(
  from: string,
  port: number,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<Dialogue> {
  return new Promise((resolve) => {
    const replies: string[] = [];
    const waiting = [...lines];
    const parser = new ReplyParser();
    let connected = false;
    // Then what is still to come is about the farewell.
    let over = false;
    const socket = connect({ host: from, port, localAddress: from });
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
