import { type CidrSet, parseCidrs } from '../../lib/network.ts';

/** Addresses that do not reach the Internet: loopback, private, shared (RFC 6598), link-local. */
const INSIDE = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

const inside = setOf(INSIDE);

/** Whether an address belongs to a network of ours, not to the Internet. */
export function isInside(address: string): boolean {
  return inside.contains(address);
}

/** The set of configured ranges, which are known to be valid; the empty set if they are not. */
export function setOf(ranges: readonly string[]): CidrSet {
  const parsed = parseCidrs(ranges);
  return parsed.ok ? parsed.cidrs : { contains: () => false };
}

/** Whether every address of a range belongs to a network of ours: ranges are nested or disjoint. */
export function isRangeInside(range: string): boolean {
  return INSIDE.some((own) => prefixOf(range) >= prefixOf(own) && setOf([own]).contains(startOf(range)));
}

/** How many bits of a range are fixed: all, for an address. */
export function prefixOf(range: string): number {
  const [address = '', bits] = range.split('/');
  return bits === undefined ? (address.includes(':') ? 128 : 32) : Number(bits);
}

/** The first address of a range. */
function startOf(range: string): string {
  return range.split('/')[0] ?? range;
}
