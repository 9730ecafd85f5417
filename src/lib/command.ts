import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** How the reader calls the program: compiled, it runs from a package that npm has installed. */
export const COMMAND = import.meta.url.endsWith('.ts') ? './waybill' : 'waybill';

/** ` --data DIR`, for a command to be pasted here; empty if the command finds that directory without it. */
export function dataOption(dataDir: string): string {
  const found = process.env['WAYBILL_DATA'] ?? 'data';
  return resolve(found) === resolve(dataDir) ? '' : ` --data ${shellWord(dataDir)}`;
}

/** Text as one word of a shell command, quoted if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Continues as the owner of a directory, for the rest of the process, if root works in another user's directory: the
 * service could not open files that root made there. Throws the system's error if root may not do that.
 */
export function becomeOwnerOf(directory: string): void {
  if (process.geteuid?.() !== 0 || !existsSync(directory)) return;
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  process.setgroups?.([gid]);
  process.setegid?.(gid);
  process.seteuid?.(uid);
}

/** A user of this machine; the name is null if /etc/passwd does not have it, as for users of other name services. */
export interface User {
  readonly uid: number;
  readonly name: string | null;
}

/** The owner of a file or directory. Throws the system's error. */
export function ownerOf(path: string): User {
  return userOf(statSync(path).uid);
}

/** The user of this process. */
export function ownUser(): User {
  return userOf(process.geteuid?.() ?? 0);
}

/** A user in a message, such as `ann (uid 1000)`. */
export function userText({ uid, name }: User): string {
  return name === null ? `uid ${uid}` : `${name} (uid ${uid})`;
}

/** The words with which a command for this user begins. */
export function sudoTo({ uid, name }: User): string {
  return uid === 0 ? 'sudo' : `sudo -u ${name ?? `'#${uid}'`}`;
}

function userOf(uid: number): User {
  let name: string | null = null;
  try {
    for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
      const [known = '', , id] = line.split(':');
      if (id === String(uid)) name ??= known;
    }
  } catch {
    // Not every system has one.
  }
  return { uid, name };
}

/** This program's version. */
export function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return version;
}
