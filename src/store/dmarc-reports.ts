import type { Disposition, DmarcReport, DmarcRow, PublishedPolicy } from '../domain/dmarc-report.ts';

/**
 * DMARC aggregate reports that came in. A report is written once, and removed by age and number. Times are wall ms; a
 * report counts for the UTC day in which its time begins. Errors are `StoreError`.
 */
export interface DmarcReports {
  /** Adds a report. False if this reporter's report of this id on this domain is there already. */
  addDmarcReport(report: AddedDmarcReport): Promise<boolean>;
  /** A page, the newest arrival first. */
  dmarcReports(query: DmarcReportQuery): Promise<DmarcReportSummary[]>;
  /** What reports say of each domain, and of each of its days; domains by name. */
  dmarcDays(since: number, until: number): Promise<DmarcDay[]>;
  /** The addresses that sent, the most mail first. */
  dmarcSources(query: DmarcQuery, limit: number): Promise<DmarcSources>;
  /** What reports say of one address, the most mail first. */
  dmarcRowsOf(source: string, query: DmarcQuery, limit: number): Promise<ReportedRow[]>;
  /**
   * Removes reports whose time began before `before`, and the oldest beyond `maxRows` rows of all reports, each
   * of which counts as a row itself. At most `limit` reports; returns how many.
   */
  forgetDmarcReports(before: number, maxRows: number, limit: number): Promise<number>;
}

/** A report as it is added. */
export interface AddedDmarcReport extends DmarcReport {
  readonly id: string;
  readonly receivedAt: number;
  readonly via: DmarcVia;
}

/** How a report came. */
export type DmarcVia = 'mail' | 'upload';

/** Which reports a page shows. */
export interface DmarcReportQuery {
  /** Null: those of all domains. */
  readonly domain: string | null;
  /** Only reports with a smaller id; null: from the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** A report without its rows. */
export interface DmarcReportSummary extends Omit<AddedDmarcReport, 'rows'> {
  readonly messages: number;
  /** Messages that passed DMARC. */
  readonly passed: number;
}

/** Which reports are summed up: of a domain (null: all), of days that begin at `since` or later, and before `until`. */
export interface DmarcQuery {
  readonly domain: string | null;
  readonly since: number;
  readonly until: number;
}

/** A day of a domain. */
export interface DmarcDay {
  readonly domain: string;
  /** Days since 1970. */
  readonly day: number;
  readonly messages: number;
  readonly passed: number;
  /** The policy of the report that came last. */
  readonly policy: PublishedPolicy;
}

/** See {@link DmarcReports.dmarcSources}. */
export interface DmarcSources {
  readonly sources: readonly DmarcSource[];
  /** Addresses in all. */
  readonly count: number;
}

/** What reports say of the mail from one address. */
export interface DmarcSource {
  /** '' for the sum of many, in reports that were too long. */
  readonly source: string;
  readonly messages: number;
  /** By DKIM or SPF, and aligned. */
  readonly passed: number;
  readonly dkim: number;
  readonly spf: number;
  readonly quarantined: number;
  readonly rejected: number;
  /** A domain that signed, and one of a reverse-path; '' where none is told. */
  readonly dkimDomain: string;
  readonly spfDomain: string;
}

/** A row of a report, or of several alike of one reporter. */
export interface ReportedRow extends DmarcRow {
  readonly reporter: string;
  readonly disposition: Disposition;
}
