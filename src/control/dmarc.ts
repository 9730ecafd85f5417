import { bounceDomainsOf } from '../config/bounces.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { DmarcOperations, DmarcSummary, TakenDmarcReport } from '../operations/dmarc.ts';
import type { RequestOf } from '../operations/table.ts';
import { readDmarcFile } from '../reports/dmarc-mail.ts';
import { dayOf } from '../store/counting.ts';
import type { DmarcDay, DmarcQuery } from '../store/dmarc-reports.ts';
import type { LocalDeps } from './deps.ts';

/** The operations on DMARC reports. */

type DmarcDeps = Pick<LocalDeps, 'dmarc' | 'dmarcDesk' | 'clock' | 'resolution'>;

const DAY_MS = 86_400_000;
/** Addresses, and rows of one of them, that are told of. */
const MAX_SOURCES = 200;
const MAX_ROWS = 200;

/** See {@link DmarcOperations}. */
export function dmarcOperations(deps: DmarcDeps): DmarcOperations {
  const { dmarc, clock } = deps;
  return {
    dmarc: (request) => summarize(request, deps),
    dmarcSource: async ({ source, ...request }) => {
      const found = await dmarc.dmarcRowsOf(source, queryOf(request, clock.wall()), MAX_ROWS + 1);
      const rows = found
        .slice(0, MAX_ROWS)
        .map(({ source: _, count, ...row }) => ({ ...row, messages: count }));
      return { rows, more: found.length > MAX_ROWS };
    },
    dmarcReports: async ({ domain = null, limit = 50, before = null }) => {
      const found = await dmarc.dmarcReports({ domain: inLowerCase(domain), before, limit: limit + 1 });
      const reports = found.slice(0, limit).map(({ beginAt, endAt, receivedAt, ...report }) => ({
        ...report,
        beginAt: formatTimestamp(beginAt),
        endAt: formatTimestamp(endAt),
        receivedAt: formatTimestamp(receivedAt),
      }));
      return { reports, next: found.length > limit ? (reports.at(-1)?.id ?? null) : null };
    },
    addDmarcReport: (request) => add(request, deps),
  };
}

type Asked = Omit<RequestOf<'dmarcSource'>, 'source'>;

function queryOf({ domain = null, days = 30 }: Asked, now: number): DmarcQuery {
  const since = (dayOf(now) - days + 1) * DAY_MS;
  return { domain: inLowerCase(domain), since, until: since + days * DAY_MS };
}

function inLowerCase(domain: string | null): string | null {
  return domain === null ? null : domain.toLowerCase();
}

async function summarize(request: Asked, { dmarc, clock, resolution }: DmarcDeps): Promise<DmarcSummary> {
  const { days = 30 } = request;
  const query = queryOf(request, clock.wall());
  const { since, until } = query;
  const [byDay, { sources, count }] = await Promise.all([
    dmarc.dmarcDays(since, until),
    dmarc.dmarcSources(query, MAX_SOURCES),
  ]);
  const { usual } = bounceDomainsOf(resolution().config);
  return {
    from: formatTimestamp(since),
    days,
    domains: domainsOf(byDay, since / DAY_MS, days),
    sources,
    moreSources: count - sources.length,
    address: usual === null ? null : `dmarc@${usual}`,
  };
}

function domainsOf(byDay: readonly DmarcDay[], from: number, days: number): DmarcSummary['domains'] {
  const domains = new Map<string, { policy: DmarcDay['policy']; messages: number[]; passed: number[] }>();
  const zeroes = () => Array.from({ length: days }, () => 0);
  for (const { domain, day, policy, messages, passed } of byDay) {
    const known = domains.get(domain) ?? { policy, messages: zeroes(), passed: zeroes() };
    known.messages[day - from] = messages;
    known.passed[day - from] = passed;
    // Days come in order: the last one has the newest policy.
    domains.set(domain, { ...known, policy });
  }
  return [...domains].map(([domain, seen]) => ({ domain, ...seen }));
}

async function add(
  { content }: RequestOf<'addDmarcReport'>,
  { dmarcDesk }: DmarcDeps,
): Promise<TakenDmarcReport> {
  const reading = await readDmarcFile(Buffer.from(content, 'base64'));
  if (!reading.ok) throw new OperationError('invalid', `This is no DMARC report: ${reading.reason}.`);
  const { domain, reporter, reportId, rows } = reading.report;
  const verdict = await dmarcDesk.take(reading.report, 'upload');
  if (verdict === 'not_ours')
    throw new OperationError(
      'refused',
      `The report is about ${domain}, which is not among the domains of this installation: register it first.`,
    );
  if (verdict === 'dated')
    throw new OperationError(
      'refused',
      'The time that the report is about has not come yet, or is longer ago than retention.reports_days.',
    );
  const messages = rows.reduce((sum, { count }) => sum + count, 0);
  return { added: verdict === 'added', domain, reporter, reportId, messages };
}
