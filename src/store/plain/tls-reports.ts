import type { TlsReport, TlsReportTarget, TlsSession } from '../../domain/tls-report.ts';
import { fromJson } from '../columns.ts';
import type { TlsCount, TlsDay, TlsReports } from '../tls-reports.ts';
import { Columns, sql } from './sql.ts';
import { rows, run, type Subject, send, type Work } from './work.ts';

/** Sessions and reports on them, as rows. */

interface ReportRow extends Omit<TlsReport, 'targets'> {
  readonly targets: string;
}

const REPORT = new Columns<ReportRow>({
  day: sql`day`,
  domain: sql`domain`,
  reportId: sql`report_id`,
  state: sql`state`,
  targets: sql`targets`,
  tries: sql`tries`,
  nextAt: sql`next_at`,
  updatedAt: sql`updated_at`,
});

function reportOf({ targets, ...row }: ReportRow): TlsReport {
  return { ...row, targets: fromJson<TlsReportTarget[]>(targets) };
}

/** See {@link TlsReports}. */
export const TLS_REPORTS: Subject<TlsReports> = {
  reads: {
    tlsSessions: 'statement',
    unreportedTlsDays: 'statement',
    dueTlsReports: 'statement',
    tlsReportMessages: 'statement',
    tlsDays: 'snapshot',
  },
  verbs: {
    *countTlsSessions(counts, most) {
      for (const one of counts) {
        if (yield* raise(one)) continue;
        const [kinds] = yield* rows<{ count: number }>`SELECT count(*) AS count FROM tls_sessions
          WHERE day = ${one.day} AND domain = ${one.domain}`;
        yield* add((kinds?.count ?? 0) < most ? one : withoutDetails(one));
      }
    },
    *tlsSessions(day, domain) {
      const found = yield* rows<{ session: string; count: number }>`SELECT session, sessions AS count
        FROM tls_sessions WHERE day = ${day} AND domain = ${domain} ORDER BY sessions DESC, session`;
      return found.map(({ session, count }) => ({ session: fromJson<TlsSession>(session), count }));
    },
    unreportedTlsDays: (before, limit) =>
      rows<Pick<TlsReport, 'day' | 'domain'>>`SELECT DISTINCT day, domain FROM tls_sessions AS s
        WHERE day < ${before}
          AND NOT EXISTS (SELECT 1 FROM tls_reports AS r WHERE r.day = s.day AND r.domain = s.domain)
        ORDER BY day, domain LIMIT ${limit}`,
    *saveTlsReport({ targets, ...report }) {
      const row: ReportRow = { ...report, targets: JSON.stringify(targets) };
      yield* send`INSERT INTO tls_reports (${REPORT.names}) VALUES (${REPORT.values(row)})
        ON CONFLICT (day, domain) DO UPDATE SET state = ${row.state}, targets = ${row.targets},
          tries = ${row.tries}, next_at = ${row.nextAt}, updated_at = ${row.updatedAt}`;
    },
    *dueTlsReports(now, limit) {
      const found = yield* rows<ReportRow>`SELECT ${REPORT.selected} FROM tls_reports
        WHERE state = 'waiting' AND next_at <= ${now} ORDER BY next_at, day, domain LIMIT ${limit}`;
      return found.map(reportOf);
    },
    *tlsReportMessages(since, limit) {
      const found = yield* rows<{ targets: string }>`SELECT targets FROM tls_reports
        WHERE day >= ${since} AND state IN ('waiting', 'sent') ORDER BY day DESC, domain LIMIT ${limit}`;
      const targets = found.flatMap((row) => fromJson<TlsReportTarget[]>(row.targets));
      return targets.flatMap(({ messageId }) => messageId ?? []).slice(0, limit);
    },
    *tlsDays({ domain, after, limit }) {
      const ofDomain = domain === null ? sql`` : sql`AND domain = ${domain}`;
      const behind =
        after === null
          ? sql``
          : sql`AND (day < ${after.day} OR (day = ${after.day} AND domain > ${after.domain}))`;
      const days = yield* rows<Omit<TlsDay, 'report'>>`SELECT day, domain,
          CAST(sum(sessions) AS bigint) AS sessions,
          CAST(sum(CASE WHEN is_good THEN 0 ELSE sessions END) AS bigint) AS failed
        FROM tls_sessions WHERE 1 = 1 ${ofDomain} ${behind}
        GROUP BY day, domain ORDER BY day DESC, domain LIMIT ${limit}`;
      const shown: TlsDay[] = [];
      for (const one of days) {
        const [report] = yield* rows<ReportRow>`SELECT ${REPORT.selected} FROM tls_reports
          WHERE day = ${one.day} AND domain = ${one.domain}`;
        shown.push({ ...one, report: report === undefined ? null : reportOf(report) });
      }
      return shown;
    },
    *forgetTlsReports(before, limit) {
      const reports = yield* run`DELETE FROM tls_reports WHERE (day, domain) IN (
        SELECT day, domain FROM tls_reports WHERE day < ${before} ORDER BY day, domain LIMIT ${limit})`;
      const sessions = yield* run`DELETE FROM tls_sessions WHERE (day, domain, kind) IN (
        SELECT day, domain, kind FROM tls_sessions WHERE day < ${before} ORDER BY day, domain, kind LIMIT ${limit})`;
      return Math.max(reports, sessions);
    },
  },
};

/** Adds to a count that there is. False: there is none. */
function* raise({ day, domain, kind, count }: TlsCount): Work<boolean> {
  const raised = yield* run`UPDATE tls_sessions SET sessions = sessions + ${count}
    WHERE day = ${day} AND domain = ${domain} AND kind = ${kind}`;
  return raised > 0;
}

function* add({ day, domain, kind, session, count }: TlsCount): Work<void> {
  yield* send`INSERT INTO tls_sessions (day, domain, kind, session, is_good, sessions)
    VALUES (${day}, ${domain}, ${kind}, ${JSON.stringify(session)}, ${session.result === null}, ${count})
    ON CONFLICT (day, domain, kind) DO UPDATE SET sessions = tls_sessions.sessions + ${count}`;
}

/** Of the same type of policy and result, in whichever place. */
function withoutDetails(count: TlsCount): TlsCount {
  const { policy, result } = count.session;
  const nothing = { mxHost: null, mxAddress: null, localAddress: null, reason: null };
  const session: TlsSession = { policy: { ...policy, strings: [], mxHosts: [] }, result, ...nothing };
  return { ...count, kind: `${policy.type} ${result ?? 'good'}`, session };
}
