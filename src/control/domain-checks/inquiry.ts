import type { Config } from '../../config/schema.ts';
import type { PolicyFetch } from '../../dns/mta-sts.ts';
import type { Resolver } from '../../dns/resolver.ts';
import type { SendingDomain } from '../../domain/domain-keys.ts';
import type { Finding } from '../../operations/system.ts';

/** What is asked about one domain, and whom. */
export interface Inquiry {
  readonly domain: SendingDomain;
  readonly config: Config;
  readonly resolver: Resolver;
  readonly fetchPolicy: PolicyFetch;
  /** This machine's addresses. */
  readonly ownAddresses: readonly string[];
  /** Wall ms. */
  readonly now: number;
}

/** Looks at one thing. When `signal` aborts, what is not known yet is told as skipped. */
export type DomainCheck = (inquiry: Inquiry, signal: AbortSignal) => Promise<readonly Finding[]>;

/** What is worth having, and harms nobody while it is missing. */
export function optional(name: string, found: string, cure: string): Finding {
  return { name, status: 'skipped', found, cure };
}
