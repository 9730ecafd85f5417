import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where things lie in the data directory. */
export interface Layout {
  readonly database: string;
  readonly spool: string;
  /** What is running, written when all listeners accept. */
  readonly runtime: string;
}

/** The layout of a data directory. */
export function layoutOf(dataDir: string): Layout {
  return {
    database: join(dataDir, 'waybill.db'),
    spool: join(dataDir, 'spool'),
    runtime: join(dataDir, 'runtime.json'),
  };
}

/** What no other program makes. */
const OURS = ['waybill.db', 'secret.key'];
const OWNER_ALONE = 0o700;
/** What of a directory's mode lets others than its owner in. */
const OTHERS = 0o077;

/**
 * Makes the data directory if it is missing, for its owner alone. One that somebody made for it is closed to others too, but none
 * that holds what is not ours, as when a wrong one was named.
 */
export function makeDataDirectory(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: OWNER_ALONE });
  if ((statSync(dataDir).mode & OTHERS) === 0 || !isOurs(dataDir)) return;
  try {
    chmodSync(dataDir, OWNER_ALONE);
  } catch {
    // Somebody else's, as where a volume is mounted: what we write into it is closed to others by itself.
  }
}

function isOurs(dataDir: string): boolean {
  const names = readdirSync(dataDir);
  return OURS.some((name) => names.includes(name)) || names.every((name) => name === 'waybill.yaml');
}
