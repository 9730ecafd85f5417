import { isIP } from 'node:net';

/** An address and a port. */
export interface Endpoint {
  /** IPv4 or IPv6, without brackets. */
  readonly address: string;
  readonly port: number;
}

const WITH_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):([1-9][0-9]{0,4})$/;
const MAX_PORT = 65_535;

/**
 * Reads `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`; without a port it is `defaultPort`. Null
 * when it is none of them.
 */
export function parseEndpoint(text: string, defaultPort: number): Endpoint | null {
  if (isIP(text) !== 0) return text.includes('%') ? null : { address: text, port: defaultPort };
  const [, v6, v4, port = ''] = WITH_PORT.exec(text) ?? [];
  const isGood = v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6;
  return isGood && Number(port) <= MAX_PORT ? { address: v6 ?? v4 ?? '', port: Number(port) } : null;
}
