/**
 * The big mailbox providers, by the domains and the MX hosts that are theirs, and the pace that does well with them. A
 * provider's domains share one pace: it sees one sender, whatever domain the mail is for. Only `mx` relays look here.
 */

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

/** In the order in which they are looked through. */
export const MAILBOX_PROVIDERS: readonly MailboxProvider[] = [];

/** The provider of a recipient domain (lower case, A-labels), by its name, or by an MX host that was spoken to (null: none yet). */
export function mailboxProviderOf(domain: string, mxHost: string | null): MailboxProvider | null {
  const host = mxHost === null ? null : `.${mxHost.toLowerCase().replace(/\.$/, '')}`;
  return (
    MAILBOX_PROVIDERS.find(
      ({ domains, mxSuffixes }) =>
        domains.includes(domain) || (host !== null && mxSuffixes.some((suffix) => host.endsWith(suffix))),
    ) ?? null
  );
}
