import { mkdirSync } from 'node:fs';
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

/** Makes the data directory if it is missing, for its owner alone. */
export function makeDataDirectory(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
}
