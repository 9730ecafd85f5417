import { existsSync, statSync } from 'node:fs';

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
