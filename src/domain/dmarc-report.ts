/** DMARC aggregate reports (RFC 7489 §7.2): what receivers saw of mail that names a domain in From. */

/** What a receiver did with mail, after its own exceptions. */
export const DISPOSITIONS = ['none', 'quarantine', 'reject'] as const;

/** See {@link DISPOSITIONS}. */
export type Disposition = (typeof DISPOSITIONS)[number];

/** Messages that one receiver saw from one address, with the same results. */
export interface DmarcRow {
  /** The address that connected to the receiver; '' for the sum of what is above {@link MAX_DMARC_ROWS}. */
  readonly source: string;
  readonly count: number;
  readonly disposition: Disposition;
  /** An aligned DKIM signature was valid. */
  readonly dkim: boolean;
  /** SPF passed for an aligned domain. */
  readonly spf: boolean;
  readonly headerFrom: string;
  /** Of the SPF check: the domain of the reverse-path; '' where none is told. */
  readonly spfDomain: string;
  /** Of the signature that passed, else of the first; '' without a signature. */
  readonly dkimDomain: string;
  readonly selector: string;
}

/** The DMARC record that the receiver went by. */
export interface PublishedPolicy {
  readonly p: Disposition;
  /** For subdomains; null where none is told. */
  readonly sp: Disposition | null;
  /** Percentage of mail that the policy is applied to. */
  readonly pct: number;
}

/** One receiver's report on one domain and time. Everything in it is hostile text, bounded. */
export interface DmarcReport {
  /** The organization that wrote it. */
  readonly reporter: string;
  /** Where it can be asked; '' where it does not say. */
  readonly contact: string;
  /** Unique for a reporter. */
  readonly reportId: string;
  /** The domain whose record it is about, in lower case. */
  readonly domain: string;
  /** The time it is about, wall ms. */
  readonly beginAt: number;
  readonly endAt: number;
  readonly policy: PublishedPolicy;
  /** Rows alike are one. At most {@link MAX_DMARC_ROWS} with a source, the first ones. */
  readonly rows: readonly DmarcRow[];
}

/** Most rows that are kept of one report. The rest is summed up, and loses its sources. */
export const MAX_DMARC_ROWS = 2_000;

/** Most messages of one report. So many are in no day's report, and sums of all reports that are kept stay exact. */
export const MAX_DMARC_MESSAGES = 10_000_000_000;

/** The domain of ours that a report's domain is, or is below; null if it is none. Names are in lower case. */
export function reportedDomain(domain: string, ours: readonly string[]): string | null {
  return ours.find((own) => domain === own || domain.endsWith(`.${own}`)) ?? null;
}

/**
 * What becomes of a report that came in: `added`, or `known`, if it was kept before; `not_ours`: it is about a domain
 * that is not registered here; `dated`: its time has not come, or is longer ago than reports are kept; `unreadable`.
 */
export const DMARC_VERDICTS = ['added', 'known', 'not_ours', 'dated', 'unreadable'] as const;

/** See {@link DMARC_VERDICTS}. */
export type DmarcVerdict = (typeof DMARC_VERDICTS)[number];
