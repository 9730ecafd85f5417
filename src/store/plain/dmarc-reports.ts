import type { Disposition, PublishedPolicy } from '../../domain/dmarc-report.ts';
import { fromJson } from '../columns.ts';
import type {
  AddedDmarcReport,
  DmarcDay,
  DmarcQuery,
  DmarcReportSummary,
  DmarcReports,
  DmarcSource,
  DmarcVia,
  ReportedRow,
} from '../dmarc-reports.ts';
import { among, Columns, type Flag, type Sql, sql } from './sql.ts';
import { rows, run, type Subject, send } from './work.ts';

/** DMARC aggregate reports, as rows. */

interface ReportRow {
  readonly id: string;
  readonly reporter: string;
  readonly contact: string;
  readonly reportId: string;
  readonly domain: string;
  readonly beginAt: number;
  readonly endAt: number;
  readonly policy: string;
  readonly receivedAt: number;
  readonly via: DmarcVia;
  readonly rowCount: number;
  readonly messages: number;
  readonly passed: number;
}

const REPORT = new Columns<ReportRow>({
  id: sql`id`,
  reporter: sql`reporter`,
  contact: sql`contact`,
  reportId: sql`report_id`,
  domain: sql`domain`,
  beginAt: sql`begin_at`,
  endAt: sql`end_at`,
  policy: sql`policy`,
  receivedAt: sql`received_at`,
  via: sql`via`,
  rowCount: sql`row_count`,
  messages: sql`messages`,
  passed: sql`passed`,
});

interface RecordRow {
  readonly report: string;
  readonly place: number;
  readonly source: string;
  readonly count: number;
  readonly disposition: Disposition;
  readonly dkim: boolean;
  readonly spf: boolean;
  readonly headerFrom: string;
  readonly spfDomain: string;
  readonly dkimDomain: string;
  readonly selector: string;
}

const RECORD = new Columns<RecordRow>({
  report: sql`report`,
  place: sql`place`,
  source: sql`source`,
  count: sql`messages`,
  disposition: sql`disposition`,
  dkim: sql`dkim`,
  spf: sql`spf`,
  headerFrom: sql`header_from`,
  spfDomain: sql`spf_domain`,
  dkimDomain: sql`dkim_domain`,
  selector: sql`selector`,
});

/** Sums of messages of rows; of those for which `condition` holds. */
const ALL = sql`CAST(sum(r.messages) AS bigint)`;
const sumIf = (condition: Sql) => sql`CAST(sum(CASE WHEN ${condition} THEN r.messages ELSE 0 END) AS bigint)`;

/** See {@link DmarcReports}. */
export const DMARC_REPORTS: Subject<DmarcReports> = {
  reads: {
    dmarcReports: 'statement',
    dmarcDays: 'statement',
    dmarcSources: 'snapshot',
    dmarcRowsOf: 'statement',
  },
  verbs: {
    *addDmarcReport(report) {
      const added =
        yield* run`INSERT INTO dmarc_reports (${REPORT.names}) VALUES (${REPORT.values(rowOf(report))})
        ON CONFLICT (domain, reporter, report_id) DO NOTHING`;
      if (added === 0) return false;
      for (const [place, record] of report.rows.entries()) {
        const row: RecordRow = { report: report.id, place, ...record };
        yield* send`INSERT INTO dmarc_rows (${RECORD.names}) VALUES (${RECORD.values(row)})`;
      }
      return true;
    },
    *dmarcReports({ domain, before, limit }) {
      const ofDomain = domain === null ? sql`` : sql`AND domain = ${domain}`;
      const behind = before === null ? sql`` : sql`AND id < ${before}`;
      const found = yield* rows<ReportRow>`SELECT ${REPORT.selected} FROM dmarc_reports
        WHERE 1 = 1 ${ofDomain} ${behind} ORDER BY id DESC LIMIT ${limit}`;
      return found.map(
        ({ rowCount: _, policy, ...report }): DmarcReportSummary => ({
          ...report,
          policy: fromJson<PublishedPolicy>(policy),
        }),
      );
    },
    *dmarcDays(since, until) {
      const found = yield* rows<Omit<DmarcDay, 'policy'> & { newest: string; policy: string }>`
        SELECT days.domain AS domain, days.day AS day, days.messages AS messages, days.passed AS passed,
          days.newest AS newest, last.policy AS policy
        FROM (SELECT domain, begin_at / 86400000 AS day, CAST(sum(messages) AS bigint) AS messages,
            CAST(sum(passed) AS bigint) AS passed, max(id) AS newest
          FROM dmarc_reports WHERE begin_at >= ${since} AND begin_at < ${until}
          GROUP BY domain, begin_at / 86400000) AS days
        JOIN dmarc_reports AS last ON last.id = days.newest
        ORDER BY days.domain, days.day`;
      return found.map(({ newest: _, policy, ...day }) => ({
        ...day,
        policy: fromJson<PublishedPolicy>(policy),
      }));
    },
    *dmarcSources(query, limit) {
      const sources = yield* rows<DmarcSource>`SELECT r.source AS source, ${ALL} AS messages,
          ${sumIf(sql`r.dkim OR r.spf`)} AS passed, ${sumIf(sql`r.dkim`)} AS dkim, ${sumIf(sql`r.spf`)} AS spf,
          ${sumIf(sql`r.disposition = 'quarantine'`)} AS quarantined,
          ${sumIf(sql`r.disposition = 'reject'`)} AS rejected,
          max(r.dkim_domain) AS "dkimDomain", max(r.spf_domain) AS "spfDomain"
        FROM ${ofReports(query)} GROUP BY r.source ORDER BY messages DESC, source LIMIT ${limit}`;
      const [all] = yield* rows<{ count: number }>`SELECT count(DISTINCT r.source) AS count
        FROM ${ofReports(query)}`;
      return { sources, count: all?.count ?? 0 };
    },
    *dmarcRowsOf(source, query, limit) {
      const found = yield* rows<Omit<ReportedRow, 'dkim' | 'spf'> & { dkim: Flag; spf: Flag }>`
        SELECT r.source AS source, reports.reporter AS reporter, r.disposition AS disposition, r.dkim AS dkim,
          r.spf AS spf, r.header_from AS "headerFrom", r.spf_domain AS "spfDomain",
          r.dkim_domain AS "dkimDomain", r.selector AS selector, ${ALL} AS count
        FROM ${ofReports(query)} AND r.source = ${source}
        GROUP BY r.source, reports.reporter, r.disposition, r.dkim, r.spf, r.header_from, r.spf_domain, r.dkim_domain,
          r.selector
        ORDER BY count DESC, reporter, "headerFrom", "dkimDomain", "spfDomain" LIMIT ${limit}`;
      return found.map((row) => ({ ...row, dkim: Boolean(row.dkim), spf: Boolean(row.spf) }));
    },
    *forgetDmarcReports(before, maxRows, limit) {
      const old = yield* rows<{ id: string }>`SELECT id FROM dmarc_reports WHERE begin_at < ${before}
        ORDER BY begin_at, id LIMIT ${limit}`;
      const ids = old.map(({ id }) => id);
      // A report counts as a row of its own: one without rows has its place, too.
      const [all] = yield* rows<{ count: number | null }>`SELECT CAST(sum(row_count + 1) AS bigint) AS count
        FROM dmarc_reports`;
      let above = (all?.count ?? 0) - maxRows;
      if (above > 0 && ids.length < limit) {
        const oldest = yield* rows<{ id: string; rowCount: number }>`SELECT id, row_count AS "rowCount"
          FROM dmarc_reports WHERE begin_at >= ${before} ORDER BY begin_at, id LIMIT ${limit - ids.length}`;
        for (const { id, rowCount } of oldest) {
          if (above <= 0) break;
          ids.push(id);
          above -= rowCount + 1;
        }
      }
      yield* send`DELETE FROM dmarc_rows WHERE report ${among(ids)}`;
      return yield* run`DELETE FROM dmarc_reports WHERE id ${among(ids)}`;
    },
  },
};

function rowOf({ rows: records, policy, ...report }: AddedDmarcReport): ReportRow {
  const sum = (some: AddedDmarcReport['rows']) => some.reduce((total, { count }) => total + count, 0);
  return {
    ...report,
    policy: JSON.stringify(policy),
    rowCount: records.length,
    messages: sum(records),
    passed: sum(records.filter(({ dkim, spf }) => dkim || spf)),
  };
}

/** Rows of the reports of a query, for a FROM whose WHERE may go on. */
function ofReports({ domain, since, until }: DmarcQuery): Sql {
  const ofDomain = domain === null ? sql`` : sql`AND reports.domain = ${domain}`;
  return sql`dmarc_reports AS reports JOIN dmarc_rows AS r ON r.report = reports.id
    WHERE reports.begin_at >= ${since} AND reports.begin_at < ${until} ${ofDomain}`;
}
