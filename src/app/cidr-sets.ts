import { type CidrSet, parseCidrs } from '../lib/network.ts';

const parsed = new WeakMap<readonly string[], CidrSet>();

/** Ranges that the configuration has checked, parsed once for each list. */
export function cidrs(list: readonly string[]): CidrSet {
  const known = parsed.get(list);
  if (known) return known;
  const result = parseCidrs(list);
  if (!result.ok) throw new Error(`an unchecked range: ${result.entry}`);
  parsed.set(list, result.cidrs);
  return result.cidrs;
}
