import { hostname } from 'node:os';
import type { Config } from './schema.ts';

/** Asked once: it is needed for every message, and changes with a restart at most. */
const MACHINE = hostname();

/** The name this server goes by: `server.hostname`, else the machine's. */
export function serverName(config: Pick<Config, 'server'>): string {
  return config.server.hostname ?? MACHINE;
}

/** Whose mail `<postmaster>` is while `server.postmaster` names nobody: an address of this server's own. */
export function localPostmaster(config: Pick<Config, 'server'>): string {
  return `postmaster@${serverName(config)}`;
}
