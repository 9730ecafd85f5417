import type { Way } from '../smtp/exchange.ts';
import type { ReadyHost } from './hosts.ts';
import type { MxMeans } from './means.ts';

/** How long an address may take to answer while its host has another (RFC 8305: somebody's IPv6 may lead nowhere). */
const NEXT_ADDRESS_AFTER_MS = 5000;

/**
 * The ways to a host, in the order in which they are tried. Two domains with the same host share connections where
 * the same is asked of them. `giveUp` ends the opening of connections.
 */
export function waysTo(
  { name, addresses, security }: ReadyHost,
  { settings, terms }: Pick<MxMeans, 'settings' | 'terms'>,
  giveUp?: AbortSignal,
): Way[] {
  const { port } = settings;
  return addresses.map((address, index) => {
    const destination = { host: name, address, port, ...security.way, credentials: null };
    const { connect } = terms.timeouts;
    const isLast = index === addresses.length - 1;
    const timeouts = isLast
      ? terms.timeouts
      : { ...terms.timeouts, connect: Math.min(connect, NEXT_ADDRESS_AFTER_MS) };
    return {
      key: JSON.stringify([name, address, security.way]),
      destination,
      terms: { ...terms, timeouts },
      ...(giveUp ? { giveUp } : {}),
    };
  });
}
