/**
 * The big mailbox providers, by the domains and the MX hosts that are theirs, and the pace that does well with them. A
 * provider's domains share one pace: it sees one sender, whatever domain the mail is for. Only `mx` relays look here.
 */
import { MAILBOX_PROVIDERS } from './mailbox-providers.ts';

/** One of them. */
export interface MailboxProvider {
  /** A short name, as metrics and the queue show it. */
  readonly name: string;
  /** Recipient domains that are known to be its own. */
  readonly domains: readonly string[];
  /** Ends of the names of its MX hosts, for the domains of its customers; each begins with a dot. */
  readonly mxSuffixes: readonly string[];
  /** Attempts at once, over all of its domains, of one relay on one node. */
  readonly maxConcurrency: number;
  /** Attempts at once that a new lane begins with. */
  readonly initialConcurrency: number;
  /** Attempts begun a second, over all of its domains; 0 means no limit. */
  readonly maxRatePerSecond: number;
  /** Where the figures come from. */
  readonly source: string;
}

const BY_DOMAIN = new Map<string, MailboxProvider>(
  MAILBOX_PROVIDERS.flatMap((provider) => provider.domains.map((domain) => [domain, provider] as const)),
);
const BY_SUFFIX = new Map<string, MailboxProvider>(
  MAILBOX_PROVIDERS.flatMap((provider) => provider.mxSuffixes.map((suffix) => [suffix, provider] as const)),
);

/**
 * The provider of a recipient domain (lower case, A-labels), by an MX host that was spoken to (null: none yet), else by
 * its name. The host counts first: a domain may have moved to another provider's servers.
 */
export function mailboxProviderOf(domain: string, mxHost: string | null): MailboxProvider | null {
  return (mxHost === null ? null : providerOfHost(mxHost)) ?? BY_DOMAIN.get(domain) ?? null;
}

function providerOfHost(mxHost: string): MailboxProvider | null {
  const host = `.${mxHost.toLowerCase().replace(/\.$/, '')}`;
  for (let dot = 0; dot >= 0; dot = host.indexOf('.', dot + 1)) {
    const found = BY_SUFFIX.get(host.slice(dot));
    if (found !== undefined) return found;
  }
  return null;
}
