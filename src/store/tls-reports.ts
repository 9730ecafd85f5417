import type { TlsReport, TlsSession } from '../domain/tls-report.ts';

/**
 * Sessions with the servers of recipient domains, counted by UTC day, and the reports on them (RFC 8460). Times are wall
 * ms, days are since 1970. Errors are `StoreError`.
 */
export interface TlsReports {
  /** Adds to counts. Of a domain's day with `most` kinds of sessions, further ones are counted without their details. */
  countTlsSessions(counts: readonly TlsCount[], most: number): Promise<void>;
  /** What was counted of a domain on a day, the most first. */
  tlsSessions(day: number, domain: string): Promise<Pick<TlsCount, 'session' | 'count'>[]>;
  /** Days before `before` of domains with sessions, on which there is no report yet. */
  unreportedTlsDays(before: number, limit: number): Promise<Pick<TlsReport, 'day' | 'domain'>[]>;
  /** Writes a report, over an earlier state of it. */
  saveTlsReport(report: TlsReport): Promise<void>;
  /** Reports that wait, and are due; the longest due first. */
  dueTlsReports(now: number, limit: number): Promise<TlsReport[]>;
  /** The messages that carry reports on days from `since` on; at most `limit`. */
  tlsReportMessages(since: number, limit: number): Promise<string[]>;
  /** A page of domains' days, with what was counted and what became of the report: the newest first, then by domain. */
  tlsDays(query: TlsDayQuery): Promise<TlsDay[]>;
  /** Removes the counts and reports of days before `before`, at most `limit` of each; returns how many. */
  forgetTlsReports(before: number, limit: number): Promise<number>;
}

/** Sessions alike on one day. */
export interface TlsCount {
  readonly day: number;
  readonly domain: string;
  /** The same for sessions alike; at most 64 characters. */
  readonly kind: string;
  readonly session: TlsSession;
  readonly count: number;
}

/** Which days a page shows. */
export interface TlsDayQuery {
  /** Null: those of all domains. */
  readonly domain: string | null;
  /** Only what comes after this one; null: from the newest. */
  readonly after: Pick<TlsReport, 'day' | 'domain'> | null;
  readonly limit: number;
}

/** A day of a domain. */
export interface TlsDay {
  readonly day: number;
  readonly domain: string;
  readonly sessions: number;
  readonly failed: number;
  /** Null: the day is not over, or none was begun. */
  readonly report: TlsReport | null;
}
