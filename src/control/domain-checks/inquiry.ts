import type { Config } from '../../config/schema.ts';
import type { PolicyFetch } from '../../dns/mta-sts.ts';
import type { Resolver } from '../../dns/resolver.ts';
import type { SendingDomain } from '../../domain/domain-keys.ts';
import type { Finding } from '../../operations/system.ts';

/** The domain being checked, and the means to check it. */
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

/** Checks one thing. When `signal` aborts, anything still unknown is reported as skipped. */
export type DomainCheck = (inquiry: Inquiry, signal: AbortSignal) => Promise<readonly Finding[]>;

/** A finding on something useful whose absence harms nobody. */
export function optional(name: string, found: string, cure: string): Finding {
  return { name, status: 'skipped', found, cure };
}
