import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatBytes } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Card, KeyValue } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Bytes, Duration, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { adviceOf, cureFor, summaryOf, wordsOf } from './cures.ts';

type Health = ResultOf<'health'>;
/** What was looked at, and how it is. */
interface Finding {
  readonly name: string;
  readonly status: keyof typeof RANKS;
  readonly found: string;
  /** What to do about it; null for nothing. */
  readonly cure: string | null;
}

/** The worst first. */
const RANKS = { critical: 0, fail: 0, degraded: 1, warn: 1, healthy: 2, ok: 2, skipped: 3 };
const EVERY_MS = 10_000;

/** How the service is, and why: what `GET /health` says. */
export function HealthTab() {
  const health = useCall('health', {}, { topics: ['health'], everyMs: EVERY_MS });
  return (
    <Fetched query={health} lines={8}>
      {(report) => (
        <div className="space-y-4">
          <Summary report={report} />
          <div className="grid items-start gap-4 xl:grid-cols-2">
            <Card flush title="Checks">
              <Findings
                findings={report.checks.map(({ detail, ...check }) => ({
                  ...check,
                  found: detail,
                  cure: null,
                }))}
              />
            </Card>
            <div className="space-y-4">
              <Card title="Listening">
                <Ports report={report} />
              </Card>
              <Card title="Nodes">
                <ul className="divide-y divide-line">
                  {report.nodes.map(({ id, name, roles, version, lastSeenAt }) => (
                    <li key={id} className="py-1.5" title={id}>
                      <span className="break-all text-soft">{name}</span>: {roles.join(', ')}; version{' '}
                      {version}; seen <Time at={lastSeenAt} />
                    </li>
                  ))}
                </ul>
              </Card>
            </div>
          </div>
        </div>
      )}
    </Fetched>
  );
}

function Summary({ report }: { readonly report: Health }) {
  const { status, database, disk, encryption, startedAt } = report;
  return (
    <Card>
      <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-1">
        <StatusBadge status={status} />
        <span className="font-medium">{summaryOf(report)}</span>
      </div>
      <KeyValue
        wide
        rows={{
          'Up since': <Time at={startedAt} exact />,
          Version: report.version,
          Database: database.reachable ? (
            <>
              {database.engine}, <Bytes bytes={database.sizeBytes} />, answers in{' '}
              <Duration ms={database.latencyMs} />
            </>
          ) : (
            <span className="text-failed">{database.engine} does not answer</span>
          ),
          Disk: disk.freeBytes === null ? null : `${formatBytes(disk.freeBytes)} free`,
          Encryption: <Encrypted encryption={encryption} />,
        }}
      />
    </Card>
  );
}

/** What of the contents of mail is encrypted at rest, and which key that takes. */
function Encrypted({ encryption }: Pick<Health, 'encryption'>) {
  if (encryption === null) return 'not known yet';
  const { contents, key, segments, encryptedSegments } = encryption;
  if (key === null) return 'contents of mail are not encrypted at rest';
  return (
    <>
      {contents ? 'new mail is encrypted at rest' : 'new mail is not encrypted at rest'}; {encryptedSegments}{' '}
      of {segments} segments are, under the key <code className="font-mono break-all select-all">{key}</code>
    </>
  );
}

/** What was found, the worst first. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <ul className="divide-y divide-line">
      {findings
        .toSorted((one, other) => RANKS[one.status] - RANKS[other.status])
        .map((finding) => (
          <FindingRow key={finding.name} finding={finding} />
        ))}
    </ul>
  );
}

/** What was found of one thing. Where a page can cure it, a button leads there; else the command line that does. */
function FindingRow({ finding: { name, status, found, cure } }: { readonly finding: Finding }) {
  const page = RANKS[status] < RANKS.ok ? cureFor(name) : null;
  const advice = cure === null || page === null ? null : adviceOf(cure);
  // Records of the DNS have lines of their own.
  const isLong = advice?.includes('\n');
  return (
    <li className="space-y-2 px-4 py-2.5">
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <div className="font-medium">{name}</div>
          <div className="text-sm break-words text-soft">{page === null ? found : wordsOf(found)}</div>
          {advice !== null && !isLong && (
            <div className="mt-1 text-sm break-words">What to do: {advice}.</div>
          )}
        </div>
        <StatusBadge status={status} />
      </div>
      {advice !== null && isLong && <CodeBlock label="What to do" code={advice} wrap />}
      {page !== null && <ButtonLink small {...page.target} label={page.label} />}
      {page === null && cure !== null && <CodeBlock label="What to do" code={cure} wrap />}
    </li>
  );
}

function Ports({ report: { smtp, api } }: { readonly report: Health }) {
  return (
    <KeyValue
      rows={{
        API: portText(api.port === null ? [] : [api.port]),
        'API over TLS': portText(api.tlsPort === null ? [] : [api.tlsPort]),
        SMTP: <Bound asked={smtp.configuredPorts} bound={smtp.listeningPorts} />,
        'SMTP over TLS': <Bound asked={smtp.configuredTlsPorts} bound={smtp.listeningTlsPorts} />,
      }}
    />
  );
}

function Bound({ asked, bound }: { readonly asked: readonly number[]; readonly bound: readonly number[] }) {
  const missing = asked.filter((port) => port !== 0 && !bound.includes(port));
  return (
    <>
      {portText(bound)}
      {missing.length > 0 && <span className="text-retrying">; not bound: {missing.join(', ')}</span>}
    </>
  );
}

function portText(ports: readonly number[]): string {
  return ports.length === 0 ? 'off' : ports.join(', ');
}
