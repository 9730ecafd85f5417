import { existsSync, readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';

/** What the program is called by who reads this: compiled, it runs from a package that npm has installed. */
export const COMMAND = import.meta.url.endsWith('.ts') ? './waybill' : 'waybill';

/** ` --data DIR`, as a command needs it that is pasted here; empty where it finds that directory without. */
export function dataOption(dataDir: string): string {
  return relative(process.cwd(), dataDir) === 'data' ? '' : ` --data ${shellWord(dataDir)}`;
}

/** Text as one word of a shell's command line, in quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Goes on as the owner of a directory, for the rest of the process, where root is at work in somebody else's: files that root
 * made there the service could not open. Throws the system's error where root may not do that.
 */
export function becomeOwnerOf(directory: string): void {
  if (process.geteuid?.() !== 0 || !existsSync(directory)) return;
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  process.setgroups?.([gid]);
  process.setegid?.(gid);
  process.seteuid?.(uid);
}

/** A user of this machine; the name is null where /etc/passwd does not know it, as for those of other name services. */
export interface User {
  readonly uid: number;
  readonly name: string | null;
}

/** Whose a file or directory is. Throws the system's error. */
export function ownerOf(path: string): User {
  return userOf(statSync(path).uid);
}

/** As whom this process acts. */
export function ownUser(): User {
  return userOf(process.geteuid?.() ?? 0);
}

/** A user in a message, such as `ann (uid 1000)`. */
export function userText({ uid, name }: User): string {
  return name === null ? `uid ${uid}` : `${name} (uid ${uid})`;
}

/** The words with which a command begins that this user is to run. */
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
