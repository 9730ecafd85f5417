import { isIP } from 'node:net';
import { type CidrSet, normaliseAddress, parseCidrs } from './cidr.ts';

/** IPv4 that is nobody's on the Internet (IANA's registry of special-purpose addresses, RFC 6890). */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Within what is given out of IPv6, that which is not: IETF's own with Teredo, documentation, 6to4, SRv6. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16'];

/** Global unicast (RFC 4291), and IPv4 behind NAT64 (RFC 6052), which is looked at as what it stands for. */
const GIVEN_OUT_IPV6 = ['2000::/3', '64:ff9b::/96'];

const given = setOf(GIVEN_OUT_IPV6);
const special = setOf([...SPECIAL_IPV4, ...SPECIAL_IPV6, ...SPECIAL_IPV4.map(behindNat64)]);

/**
 * Whether an address is of the Internet: not private, loopback, link-local, multicast, unspecified, reserved, or one
 * of these in the clothes of IPv6. What is no address is not.
 */
export function isPublicAddress(address: string): boolean {
  // A zone means nothing beyond this machine.
  if (address.includes('%')) return false;
  const plain = normaliseAddress(address);
  const family = isIP(plain);
  if (family === 0 || (family === 6 && !given.contains(plain))) return false;
  return !special.contains(plain);
}

function behindNat64(range: string): string {
  const [address = '', bits = ''] = range.split('/');
  return `64:ff9b::${address}/${96 + Number(bits)}`;
}

function setOf(ranges: readonly string[]): CidrSet {
  const parsed = parseCidrs(ranges);
  if (!parsed.ok) throw new Error(`${parsed.entry}: ${parsed.reason}`);
  return parsed.cidrs;
}
