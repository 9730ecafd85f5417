import { getDomain, parse } from 'tldts';

/**
 * The organizational domain of a name (RFC 7489 §3.2), both in lower case and A-labels: its public suffix and one more
 * label. The list's private part counts too, since names below `github.io` are unrelated. A name that is a public
 * suffix, or an address, is its own.
 */
export function organizationalDomain(name: string): string {
  return getDomain(name, { allowPrivateDomains: true, extractHostname: false }) ?? name;
}

/** Whether two domains align, relaxed (RFC 7489 §3.1): they have the same organizational domain. */
export function areAligned(one: string, other: string): boolean {
  return organizationalDomain(one) === organizationalDomain(other);
}

/** Whether a name is below a suffix that is on the list: `README.js` is not. */
export function hasPublicSuffix(name: string): boolean {
  const { domain, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true, extractHostname: false });
  return domain !== null && (isIcann === true || isPrivate === true);
}
