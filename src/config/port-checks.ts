import { isIPv4, isIPv6 } from 'node:net';
import type { Config, SettingKey } from './schema.ts';

/** A listener's ports, and the addresses it has them on. */
interface Claim {
  readonly key: SettingKey;
  readonly ports: readonly (number | null)[];
  readonly bind: readonly string[];
}

/** A setting that asks for a port that is asked for already, and the rule it breaks. */
interface PortFlaw {
  readonly key: SettingKey;
  readonly rule: string;
}

/**
 * Every port that is asked for twice. 0 is another one each time, and on addresses that have nothing in common a port
 * may be two.
 */
export function portFlaws({ api, webui, listener }: Config): PortFlaw[] {
  const { ports, implicitTlsPorts, bind } = listener;
  const claims: readonly Claim[] = [
    { key: 'api.port', ports: [api.port], bind: api.bind },
    { key: 'api.tls_port', ports: api.tlsEnabled ? [api.tlsPort] : [], bind: api.bind },
    { key: 'webui.port', ports: [webui.port], bind: webui.bind },
    { key: 'listener.ports', ports, bind },
    { key: 'listener.implicit_tls_ports', ports: implicitTlsPorts, bind },
  ];
  return claims.flatMap((claim, index) => [
    ...repeated(claim.ports).map((port) => ({ key: claim.key, rule: `must not have ${port} twice` })),
    ...claims.slice(0, index).flatMap((earlier) => clashes(claim, earlier)),
  ]);
}

/** The ports of `claim` that another listener has been given before. */
function clashes(claim: Claim, earlier: Claim): PortFlaw[] {
  const { key } = claim;
  const shared = [...new Set(claim.ports)].filter((port) => port && earlier.ports.includes(port));
  if (!claim.bind.some((host) => earlier.bind.some((other) => meet(host, claim, other, earlier)))) return [];
  const verb = isList(key) ? 'have' : 'be';
  const which = `which is ${isList(earlier.key) ? 'one of ' : ''}${earlier.key}`;
  return shared.map((port) => ({ key, rule: `must not ${verb} ${port}, ${which}` }));
}

function isList(key: SettingKey): boolean {
  return key.endsWith('ports');
}

/** Whether the same port of two addresses, each of a list, cannot be bound twice. */
function meet(a: string, ofA: Claim, b: string, ofB: Claim): boolean {
  return a === b || covers(a, ofA, b) || covers(b, ofB, a);
}

/** Whether `host` means every address, `other` among them. `::` takes IPv4 too, unless its list has some (`bindAll`). */
function covers(host: string, { bind }: Claim, other: string): boolean {
  if (host === '0.0.0.0') return isIPv4(other);
  return host === '::' && (isIPv6(other) || !bind.some((address) => isIPv4(address)));
}

/** What is listed more than once. */
function repeated(ports: readonly (number | null)[]): readonly (number | null)[] {
  return [...new Set(ports.filter((port, index) => port && ports.indexOf(port) < index))];
}
