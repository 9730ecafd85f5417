import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Relay } from '../domain/relay.ts';
import { type Fault, showValue } from './fault.ts';
import type { Config } from './schema.ts';
import type { Effective } from './sources.ts';

/** Names that are nobody's own (RFC 6761). */
const NOBODYS = ['localhost', 'localdomain', 'invalid'];
/** Names that mean nothing outside of a network (RFC 6762, RFC 8375). */
const INTERNAL = ['local', 'internal', 'lan', 'home.arpa'];

/**
 * What is wrong with the name that an `mx` relay gives in EHLO: recipients' servers refuse who has no full name of
 * its own, so such a relay does not start. Null for other types and for good names. One that delivers within a network
 * (`allow_private`) may have a name of that network.
 */
export function heloFault(relay: Relay, config: Config, effective: readonly Effective[]): Fault | null {
  if (relay.mx === null) return null;
  const { helo, allowPrivate } = relay.mx;
  const name = helo ?? serverName(config);
  if (isFullName(name, allowPrivate)) return null;
  const rule = `must be this server’s full DNS name, such as mail.example.com: relay ${relay.name} delivers to recipients' own servers, which refuse others`;
  const cure = `${rule}; or give the relay a helo`;
  const value = showValue(name);
  if (helo !== null) return { key: `relays.${relay.name}.helo`, value, rule, source: 'relays' };
  const source = effective.find(({ key }) => key === 'server.hostname')?.source ?? 'default';
  const whence = config.server.hostname === null ? "the machine's own name" : source;
  return { key: 'server.hostname', value, rule: cure, source: whence };
}

/** Whether a name is one that others can look up; with `inside`, others of the same network. */
export function isFullName(name: string, inside = false): boolean {
  const lower = name.toLowerCase();
  if (!lower.includes('.') || isIP(lower) !== 0) return false;
  const refused = inside ? NOBODYS : [...NOBODYS, ...INTERNAL];
  return !refused.some((ending) => lower === ending || lower.endsWith(`.${ending}`));
}

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
