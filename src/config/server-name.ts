import { hostname } from 'node:os';
import type { Config } from './schema.ts';

/** Asked once: it is needed for every message, and changes with a restart at most. */
const MACHINE = hostname();

/** The name this server goes by: `server.hostname`, else the machine's. */
export function serverName(config: Pick<Config, 'server'>): string {
  return config.server.hostname ?? MACHINE;
}
