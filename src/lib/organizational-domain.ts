import { getDomain } from 'tldts';

/**
 * The organizational domain of a name (RFC 7489 §3.2), both in lower case and A-labels: the public suffix above it and one label
 * more. The list's private part counts too, for those below `github.io` have nothing to do with each other. A name that is a
 * public suffix, or an address, is its own.
 */
export function organizationalDomain(name: string): string {
  return getDomain(name, { allowPrivateDomains: true, extractHostname: false }) ?? name;
}

/** Whether two domains align, relaxed (RFC 7489 §3.1): they have one organizational domain. */
export function areAligned(one: string, other: string): boolean {
  return organizationalDomain(one) === organizationalDomain(other);
}
