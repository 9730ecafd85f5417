import { isIP } from 'node:net';
import { type CidrSet, normaliseAddress } from '../lib/network.ts';
import type { Exchange } from './exchange.ts';

/**
 * The client's address: the peer's, or when the peer is a trusted proxy, the rightmost hop of
 * `X-Forwarded-For` that is none. A trusted proxy that names something else than an address makes the client
 * `unknown`, which lies in no range.
 */
export function clientAddress(exchange: Pick<Exchange, 'peer' | 'headers'>, trusted: CidrSet): string {
  const { peer, headers } = exchange;
  const forwarded = headers['x-forwarded-for'];
  if (forwarded === undefined || !trusted.contains(peer)) return peer;
  const hops = String(forwarded).split(',').map(toAddress);
  let address = peer;
  for (const hop of hops.reverse()) {
    address = hop;
    if (!trusted.contains(hop)) break;
  }
  return address;
}

/** Some proxies write the port as well: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function toAddress(hop: string): string {
  const text = hop.trim();
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? 'unknown' : normaliseAddress(bare);
}
