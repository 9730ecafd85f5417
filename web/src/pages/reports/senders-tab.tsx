import { Link } from '@tanstack/react-router';
import { MailCheck } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { formatCount, formatRate } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Select } from '../../parts/choice.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { type Column, countColumn, DataTable } from '../../parts/data-table.tsx';
import { Card, Stat, StatRow } from '../../parts/page.tsx';
import { RateChart } from '../../parts/rate-chart.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Segments, Toolbar } from '../../parts/toolbar.tsx';
import { Said } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { failedByDay, passTone, policyMeaning, policyWords, totalsOf } from './figures.ts';
import { SourceDrawer } from './source-drawer.tsx';

type Summary = ResultOf<'dmarc'>;
type Source = Summary['sources'][number];

const DAYS = [
  { value: '7', label: '7 d' },
  { value: '30', label: '30 d' },
  { value: '90', label: '90 d' },
] as const;

const ALL = '';

/** Who sends in the name of our domains, and what of it passes. */
export function SendersTab() {
  const [{ domain = ALL, days = '30', source, many = false }, put] = useAddress();
  const request = { domain: domain === ALL ? null : domain, days: Number(days) };
  const summary = useCall('dmarc', request, { topics: ['reports'], keep: true });
  const names = summary.data?.domains.map(({ domain: name }) => name) ?? [];
  // The address may name a domain that has no reports any more.
  const choices = domain === ALL || names.includes(domain) ? names : [...names, domain];
  const open = many ? '' : source;
  return (
    <div className="space-y-4">
      <Toolbar>
        {choices.length > 0 && (
          <Select
            label="Domain"
            bare
            className="w-56 max-w-full"
            choices={[
              { value: ALL, label: 'All domains' },
              ...choices.map((value) => ({ value, label: value })),
            ]}
            value={domain}
            onChange={(next) => put({ domain: next === ALL ? undefined : next })}
          />
        )}
        <Segments
          label="Days"
          choices={DAYS}
          value={days}
          onChange={(next) => put({ days: next === '30' ? undefined : next })}
        />
      </Toolbar>
      <Fetched query={summary} lines={8}>
        {(found) => <Found summary={found} domain={request.domain} />}
      </Fetched>
      {open !== undefined && (
        <SourceDrawer
          request={{ ...request, source: open }}
          onClose={() => put({ source: undefined, many: undefined })}
        />
      )}
    </div>
  );
}

function Found({ summary, domain }: { readonly summary: Summary; readonly domain: string | null }) {
  const [, put] = useAddress();
  const { domains, sources, moreSources, from, days } = summary;
  const shown = domain === null ? domains : domains.filter((one) => one.domain === domain);
  const byDay = failedByDay(shown, days);
  if (shown.length === 0)
    return (
      <Card flush>
        <NoReports summary={summary} />
      </Card>
    );
  return (
    <>
      <Figures summary={summary} shown={shown} />
      <Card
        title="Mail that failed"
        note="Of the mail in reports, how much passed neither by a signature nor by SPF; by day (UTC)."
      >
        <RateChart
          label="Share of mail that failed DMARC by day"
          from={from}
          rates={byDay.map(({ rate }) => rate)}
          said={byDay.map(({ said }) => said)}
          top={[0.05, 1]}
          color="failed"
        />
      </Card>
      {domain === null && domains.length > 1 && <Domains domains={domains} />}
      <Card
        flush
        title="Who sends"
        note="Addresses of servers, the most mail first. Choose one to see what each receiver says of it."
      >
        <DataTable
          label="Who sends"
          columns={SOURCES}
          rows={sources}
          rowId={({ source }) => source}
          onOpen={({ source }) => put(source === '' ? { many: true } : { source })}
        />
        {moreSources > 0 && (
          <p className="border-t border-line px-4 py-2.5 text-sm text-soft">
            and {formatCount(moreSources)} more, with less mail
          </p>
        )}
      </Card>
    </>
  );
}

function Figures({ summary, shown }: { readonly summary: Summary; readonly shown: Summary['domains'] }) {
  const totals = totalsOf(shown);
  const failed = totals.messages - totals.passed;
  const [only, ...others] = shown;
  const tones = { good: 'delivered', warn: 'retrying', bad: 'failed' } as const;
  const tone = passTone(totals);
  return (
    <StatRow>
      <Stat label="Mail in reports" value={formatCount(totals.messages)} note={`in ${summary.days} days`} />
      <Stat
        label="Passed"
        value={formatRate(totals.messages === 0 ? null : totals.passed / totals.messages)}
        note="by a signature or SPF of the domain"
        tone={tone in tones ? tones[tone as keyof typeof tones] : undefined}
      />
      <Stat label="Failed" value={formatCount(failed)} note="by neither" />
      {only !== undefined && others.length === 0 && (
        <Stat label="Policy" value={policyWords(only.policy)} note={policyMeaning(only.policy)} />
      )}
    </StatRow>
  );
}

function NoReports({ summary: { address, domains } }: { readonly summary: Summary }) {
  if (domains.length > 0)
    return <EmptyState icon={MailCheck} title="No reports on this domain in this time" />;
  return (
    <EmptyState icon={MailCheck} title="No reports in this time">
      {address === null ? (
        <p>
          Receivers tell every day who sends in your name. To get their reports, set a bounce domain in{' '}
          <Link to="/settings/$section" params={{ section: 'smtp' }} className="link">
            Settings
          </Link>
          , or import files that came elsewhere.
        </p>
      ) : (
        <>
          <p>
            Receivers tell every day who sends in your name, if the DMARC record of your domain says where to:
          </p>
          <p className="mt-2">
            <Copyable text={`rua=mailto:${address}`} />
          </p>
        </>
      )}
    </EmptyState>
  );
}

function Domains({ domains }: { readonly domains: Summary['domains'] }) {
  const [, put] = useAddress();
  return (
    <Card flush title="By domain">
      <DataTable
        label="By domain"
        columns={DOMAINS}
        rows={domains}
        rowId={({ domain }) => domain}
        onOpen={({ domain }) => put({ domain })}
      />
    </Card>
  );
}

const DOMAINS: readonly Column<Summary['domains'][number]>[] = [
  {
    header: 'Domain',
    width: 'minmax(0, 1.6fr)',
    sort: ({ domain }) => domain,
    cell: ({ domain }) => <Said text={domain} className="font-medium" />,
  },
  {
    header: 'Policy',
    width: '9rem',
    cell: ({ policy }) => <span title={policyMeaning(policy)}>{policyWords(policy)}</span>,
  },
  countColumn({ header: 'Mail', width: '7rem', sorts: true }, (row) => totalsOf([row]).messages),
  {
    header: 'Passed',
    width: '7rem',
    align: 'end',
    sort: (row) => shareOf(totalsOf([row])),
    cell: (row) => <Passed {...totalsOf([row])} />,
  },
];

const SOURCES: readonly Column<Source>[] = [
  {
    header: 'Address',
    width: 'minmax(0, 1.5fr)',
    cell: ({ source }) =>
      source === '' ? (
        <span className="text-soft">many addresses</span>
      ) : (
        <Said text={source} className="font-mono text-sm" />
      ),
  },
  {
    header: 'Signed by',
    width: 'minmax(0, 1.3fr)',
    cell: ({ dkimDomain }) => <Said text={dkimDomain} none="–" />,
  },
  {
    header: 'Sent as',
    width: 'minmax(0, 1.3fr)',
    cell: ({ spfDomain }) => <Said text={spfDomain} none="–" />,
  },
  countColumn({ header: 'Mail', width: '5.5rem', sorts: true }, ({ messages }) => messages),
  {
    header: 'Passed',
    width: '6rem',
    align: 'end',
    sort: shareOf,
    cell: (row) => <Passed {...row} />,
  },
  {
    header: 'DKIM',
    width: '5rem',
    align: 'end',
    cell: ({ dkim, messages }) => formatRate(messages === 0 ? null : dkim / messages),
  },
  {
    header: 'SPF',
    width: '5rem',
    align: 'end',
    cell: ({ spf, messages }) => formatRate(messages === 0 ? null : spf / messages),
  },
  countColumn({ header: 'Stopped', width: '5.5rem', sorts: true }, (row) => row.quarantined + row.rejected),
];

function shareOf({ messages, passed }: { readonly messages: number; readonly passed: number }): number {
  return messages === 0 ? 0 : passed / messages;
}

function Passed(totals: { readonly messages: number; readonly passed: number }) {
  return <Badge tone={passTone(totals)}>{formatRate(shareOf(totals))}</Badge>;
}
