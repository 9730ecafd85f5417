/** Sessions with the mail servers of a domain, as SMTP TLS reports tell of them (RFC 8460). */

/** What went wrong (RFC 8460 §4.3). */
export type TlsResult =
  | 'starttls-not-supported'
  | 'certificate-host-mismatch'
  | 'certificate-expired'
  | 'certificate-not-trusted'
  | 'validation-failure'
  | 'tlsa-invalid'
  | 'dnssec-invalid'
  | 'sts-policy-fetch-error'
  | 'sts-policy-invalid'
  | 'sts-webpki-invalid';

/** The policy that a session was held to (RFC 8460 §4.4). */
export interface TlsPolicy {
  readonly type: 'tlsa' | 'sts' | 'no-policy-found';
  /** The lines of an MTA-STS policy, or the TLSA records; empty without a policy, or if it could not be fetched. */
  readonly strings: readonly string[];
  /** The hosts that an MTA-STS policy names. */
  readonly mxHosts: readonly string[];
}

/** No policy is published. */
export const NO_POLICY: TlsPolicy = { type: 'no-policy-found', strings: [], mxHosts: [] };

/** Sessions alike. */
export interface TlsSession {
  readonly policy: TlsPolicy;
  /** Null: it was good. */
  readonly result: TlsResult | null;
  /** Of a failure: where, and what else is known. Null where it is not known, and of good sessions. */
  readonly mxHost: string | null;
  readonly mxAddress: string | null;
  readonly localAddress: string | null;
  readonly reason: string | null;
}

/** Takes note of a session with a server of a domain. Must not throw, and must not wait. */
export type NoteTlsSession = (domain: string, session: TlsSession) => void;

/** A destination of reports, and what became of one there. */
export interface TlsReportTarget {
  /** `mailto:` or `https:`, as the domain publishes it. */
  readonly uri: string;
  readonly state: 'waiting' | 'sent' | 'failed';
  /** What was said last; '' for nothing. */
  readonly detail: string;
  /** The message that carries it; null: none does. */
  readonly messageId: string | null;
}

/** The report on one domain and day. */
export interface TlsReport {
  /** Days since 1970 (UTC). */
  readonly day: number;
  readonly domain: string;
  readonly reportId: string;
  /** `unwanted`: the domain publishes no address for reports. */
  readonly state: 'waiting' | 'sent' | 'failed' | 'unwanted';
  readonly targets: readonly TlsReportTarget[];
  readonly tries: number;
  /** Wall ms. */
  readonly nextAt: number;
  readonly updatedAt: number;
}
