import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';

/** State of a socket that listens (include/net/tcp_states.h). */
const LISTENING = '0A';

/** Who listens on a TCP port, such as `master (process 812)`; null when nobody does, or we may not know. */
export async function portOwner(port: number): Promise<string | null> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(textOf));
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

/** What Node.js calls the thread that a process begins with, by which the kernel calls the process. */
const NO_NAME = 'MainThread';

async function nameOf(process: string): Promise<string> {
  const name = (await textOf(`/proc/${process}/comm`)).trim();
  if (name !== NO_NAME && name !== '') return name;
  const program = await readlink(`/proc/${process}/exe`).catch(() => '');
  return program === '' ? 'a program' : basename(program);
}

/** Inodes of the sockets that listen on a port, in a table of the kernel's (proc(5)). */
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

/** What is in a folder; nothing where we may not look, or it has just gone. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return await readdir(folder).catch(() => []);
}

async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '');
}
