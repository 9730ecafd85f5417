import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Relay } from '../domain/relay.ts';
import { type Fault, showValue } from './fault.ts';
import type { Config } from './schema.ts';
import type { Effective } from './sources.ts';

/** Names that belong to nobody (RFC 6761). */
const NOBODYS = ['localhost', 'localdomain', 'invalid'];
/** Names without meaning outside of a network (RFC 6762, RFC 8375). */
const INTERNAL = ['local', 'internal', 'lan', 'home.arpa'];

/**
 * The fault of the EHLO name of an `mx` relay: recipients' servers refuse clients without a full name of their own, so
 * such a relay does not start. Null for other types and for valid names. A relay that delivers within a network
 * (`allow_private`) may use a name of that network.
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

/** Whether others can look a name up; with `inside`, others in the same network. */
export function isFullName(name: string, inside = false): boolean {
  const lower = name.toLowerCase();
  if (!lower.includes('.') || isIP(lower) !== 0) return false;
  const refused = inside ? NOBODYS : [...NOBODYS, ...INTERNAL];
  return !refused.some((ending) => lower === ending || lower.endsWith(`.${ending}`));
}

/** Read once: it is needed for every message, and changes at most with a restart. */
const MACHINE = hostname();

/** This server's name: `server.hostname`, otherwise the machine's. */
export function serverName(config: Pick<Config, 'server'>): string {
  return config.server.hostname ?? MACHINE;
}

/** The recipient of mail to `<postmaster>` while `server.postmaster` is unset: an address of this server. */
export function localPostmaster(config: Pick<Config, 'server'>): string {
  return `postmaster@${serverName(config)}`;
}
