import { type CidrSet, parseCidrs } from '../../src/lib/network.ts';

/** A set of ranges. */
export function cidrs(...ranges: string[]): CidrSet {
  const parsed = parseCidrs(ranges);
  if (!parsed.ok) throw new Error(`${parsed.entry}: ${parsed.reason}`);
  return parsed.cidrs;
}
