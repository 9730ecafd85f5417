import { serverName } from '../config/names.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { TlsReportOperations, TlsReportsPage } from '../operations/tls-reports.ts';
import { tlsReportJson } from '../reports/tls-rpt.ts';
import type { TlsDay, TlsDayQuery } from '../store/tls-reports.ts';
import type { LocalDeps } from './deps.ts';

/** The operations on TLS reports. */

type TlsReportDeps = Pick<LocalDeps, 'tlsReports' | 'resolution'>;

const DAY_MS = 86_400_000;

/** See {@link TlsReportOperations}. */
export function tlsReportOperations({ tlsReports, resolution }: TlsReportDeps): TlsReportOperations {
  return {
    tlsReports: async ({ domain = null, limit = 50, after = null }) => {
      const query = { domain: domain?.toLowerCase() ?? null, after: placeOf(after), limit: limit + 1 };
      const found = await tlsReports.tlsDays(query);
      const days = found.slice(0, limit).map(dayView);
      const last = days.at(-1);
      const next = found.length > limit && last !== undefined ? `${last.date} ${last.domain}` : null;
      return { days, next, isOn: resolution().config.tlsReports.from !== null };
    },
    tlsReport: async ({ domain, date }) => {
      const day = Date.parse(date) / DAY_MS;
      const name = domain.toLowerCase();
      const sessions = await tlsReports.tlsSessions(day, name);
      if (sessions.length === 0) return { report: null };
      const place = { day: day + 1, domain: '' };
      const [known] = await tlsReports.tlsDays({ domain: name, after: place, limit: 1 });
      const { config } = resolution();
      const { from, organization } = config.tlsReports;
      const head = {
        organization: organization ?? serverName(config),
        contact: from ?? '',
        reportId: known?.day === day ? (known.report?.reportId ?? '') : '',
        domain: name,
        day,
      };
      return { report: { ...tlsReportJson(head, sessions) } };
    },
  };
}

function dayView({ day, domain, sessions, failed, report }: TlsDay): TlsReportsPage['days'][number] {
  const nextAt = report?.state === 'waiting' ? formatTimestamp(report.nextAt) : null;
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  const targets = report?.targets ?? [];
  return { date, domain, sessions, failed, state: report?.state ?? 'counting', targets, nextAt };
}

function placeOf(after: string | null): TlsDayQuery['after'] {
  if (after === null) return null;
  const [, date = '', domain = ''] = /^(\d{4}-\d{2}-\d{2}) (\S{1,255})$/.exec(after) ?? [];
  const day = Date.parse(date) / DAY_MS;
  if (Number.isNaN(day)) throw new OperationError('invalid', 'after must be the next of the page before.');
  return { day, domain };
}
