import { createHash } from 'node:crypto';
import type { UnsubscribeTerms } from '../../src/ingest/unsubscribing.ts';
import { createRecipientTokens, type RecipientTokens } from '../../src/lib/recipient-token.ts';
import { signedDomain } from './signed-domain.ts';

/** Where no mail can be unsubscribed from. */
export const NO_LINKS: UnsubscribeTerms = {
  publicUrl: null,
  tokens: null,
  bounceDomains: { usual: null, own: new Map() },
  domains: [],
};

/** What links in mail from these domains are made of. */
export function linksFor(...domains: readonly string[]): UnsubscribeTerms {
  return {
    publicUrl: 'https://mail.example.com',
    tokens: LINK_TOKENS,
    bounceDomains: { usual: null, own: new Map() },
    domains: domains.map(signedDomain),
  };
}

/** A key for each purpose, as `secret.key` gives. */
export const deriveKey = (info: string): Uint8Array => createHash('sha256').update(info).digest();

/** The tokens of links, as any test's key makes them. */
export const LINK_TOKENS: RecipientTokens = createRecipientTokens('unsubscribe', deriveKey);
