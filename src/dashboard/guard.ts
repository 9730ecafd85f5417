import { isIP } from 'node:net';
import { clientAddress } from '../http/client-address.ts';
import type { Exchange } from '../http/exchange.ts';
import { Problem } from '../http/problem.ts';
import type { CidrSet } from '../lib/cidr.ts';

/** Who may speak to the dashboard's port, and by what name. */
export interface GuardSettings {
  /** `webui.allowed_cidrs` */
  readonly allowedCidrs: CidrSet;
  /** `webui.trusted_proxies` */
  readonly trustedProxies: CidrSet;
  /** `webui.allowed_hosts` */
  readonly allowedHosts: readonly string[];
  /** `server.hostname` */
  readonly hostname: string;
}

const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/;

/** Where a request comes from. Throws the 403 problem when the source is not allowed. */
export function requireSource(exchange: Exchange, settings: GuardSettings): string {
  const source = clientAddress(exchange, settings.trustedProxies);
  if (!settings.allowedCidrs.contains(source))
    throw new Problem(
      403,
      'source_not_allowed',
      `${source} may not use this port; allow it in webui.allowed_cidrs.`,
    );
  return source;
}

/**
 * The host a request is for, port included, as it may stand in a URL. Throws the 421 problem for a name that is
 * not ours: a page of another site must not reach us under its own name (DNS rebinding).
 */
export function requireOwnHost(exchange: Exchange, settings: GuardSettings): string {
  const host = (exchange.headers.host ?? '').toLowerCase();
  if (!isOwnHost(host, settings))
    throw new Problem(
      421,
      'host_not_allowed',
      'This server is not known by that host name; it can be added to webui.allowed_hosts.',
    );
  return host;
}

function isOwnHost(host: string, { allowedHosts, hostname }: GuardSettings): boolean {
  const [, address, name] = HOST.exec(host) ?? [];
  if (address !== undefined) return isIP(address) === 6;
  if (name === undefined) return false;
  const plain = name.replace(/\.$/, '');
  return (
    isIP(plain) === 4 || ['localhost', hostname, ...allowedHosts].some((own) => own.toLowerCase() === plain)
  );
}
