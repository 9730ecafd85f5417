import type { Config } from '../config/schema.ts';
import { serverName } from '../config/server-name.ts';
import { isOwnHost, parseCidrs } from '../lib/network.ts';
import { OperationError } from '../operations/call.ts';
import type { Actor } from './actor.ts';

/** The sources that may come the way by which somebody asks; the command line comes by none. */
const SOURCES: Readonly<Partial<Record<Actor['kind'], string>>> = {
  user: 'webui.allowed_cidrs',
  key: 'api.allowed_cidrs',
};
const HOSTS = 'webui.allowed_hosts';

/**
 * Refuses settings under which whoever asks could not ask again, and so not take them back. `changed` are those that
 * change, by key, each with the value it will have; they are known to be right.
 */
export function refuseShutOut(
  changed: ReadonlyMap<string, unknown>,
  actor: Actor | undefined,
  config: Pick<Config, 'server'>,
): void {
  if (actor === undefined) return;
  const { kind, sourceAddress, host } = actor;
  const key = SOURCES[kind];
  const ranges = key === undefined ? undefined : changed.get(key);
  if (key !== undefined && ranges !== undefined && sourceAddress !== null) {
    const parsed = parseCidrs(wordsOf(ranges));
    if (parsed.ok && !parsed.cidrs.contains(sourceAddress)) throw shutOut(key, sourceAddress);
  }
  const hosts = changed.get(HOSTS);
  if (kind !== 'user' || hosts === undefined || host === undefined) return;
  if (!isOwnHost(host, { allowedHosts: wordsOf(hosts), hostname: serverName(config) }))
    throw shutOut(HOSTS, host);
}

function shutOut(key: string, missing: string): OperationError {
  return new OperationError(
    'refused',
    `${key}: would shut you out, for you are here by ${missing}. Add it, or set this in the configuration file.`,
  );
}

function wordsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)];
}
