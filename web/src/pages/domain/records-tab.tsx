import type { ResultOf } from '../../../../src/operations/table.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { CodeBlock, CopyButton } from '../../parts/copy.tsx';
import { Card } from '../../parts/page.tsx';
import { Banner } from '../../parts/states.tsx';
import { type DnsRecord, type Finding, findingOf, otherFindings } from '../domains/page.tsx';

type Domain = ResultOf<'domain'>;
type Checked = ResultOf<'checkDomains'>[number];

const PURPOSES: Readonly<Record<DnsRecord['purpose'], string>> = {
  dkim: 'DKIM',
  spf: 'SPF',
  dmarc: 'DMARC',
  return_path_mx: 'Return path MX',
  return_path_spf: 'Return path SPF',
};

/** The records that a domain needs, each to be copied, and what a check found in their places. */
export function RecordsTab({
  domain,
  checked,
}: {
  readonly domain: Domain;
  readonly checked: Checked | null;
}) {
  const findings = checked?.findings ?? [];
  const others = otherFindings(domain.records, findings).filter(({ status }) => status !== 'skipped');
  return (
    <div className="space-y-5">
      {domain.keys.some(({ unreadable }) => unreadable) && (
        <Banner level="critical" title="A key cannot be read">
          The key that encrypts secrets is not the one with which it was made. Put that key back, or make new
          keys.
        </Banner>
      )}
      <p className="text-soft">
        Put these into the DNS of {domain.name}, where you have registered it. Some forms want the name
        without <code className="font-mono text-sm">.{domain.name}</code> at its end.
      </p>
      <ul className="space-y-4">
        {domain.records.map((record) => (
          <li key={`${record.purpose} ${record.name}`}>
            <RecordCard record={record} finding={findingOf(record, findings)} />
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <Card title="What else was found">
          <ul className="space-y-4">
            {others.map((finding) => (
              <li key={`${finding.name} ${finding.found}`}>
                <div className="flex flex-wrap items-center gap-2">
                  <span className="font-medium">{finding.name}</span>
                  <StatusBadge status={finding.status} />
                </div>
                <FindingText finding={finding} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

function RecordCard({ record, finding }: { readonly record: DnsRecord; readonly finding: Finding | null }) {
  const { purpose, name, type, value, zoneLine, note } = record;
  return (
    <Card
      title={
        <span className="inline-flex flex-wrap items-center gap-2">
          {PURPOSES[purpose]} {finding && <StatusBadge status={finding.status} />}
        </span>
      }
      note={<span className="block first-letter:uppercase">{note}</span>}
    >
      <dl className="space-y-1.5">
        <CopyRow label="Type" text={type} />
        <CopyRow label="Name" text={name} />
        <CopyRow label="Value" text={value} />
      </dl>
      {finding && finding.status !== 'ok' && (
        <div className="mt-3 border-t border-line pt-3">
          <FindingText finding={finding} shown={zoneLine} />
        </div>
      )}
      <details className="mt-3">
        <summary className="rounded-sm text-sm text-soft hover:text-ink">As a line of a zone file</summary>
        <div className="mt-2">
          <CodeBlock label="zone line" code={zoneLine} wrap />
        </div>
      </details>
    </Card>
  );
}

function CopyRow({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div className="grid grid-cols-[3.5rem_minmax(0,1fr)_auto] items-start gap-2">
      <dt className="pt-1 text-sm text-soft">{label}</dt>
      <dd className="rounded-sm bg-paper px-2 py-1 font-mono text-sm break-all select-all">{text}</dd>
      <dd>
        <CopyButton text={text} label={`Copy the ${label.toLowerCase()}`} />
      </dd>
    </div>
  );
}

/** What was found, and what to do: what follows the first line of a cure is to be pasted. */
function FindingText({
  finding: { found, cure },
  shown,
}: {
  readonly finding: Finding;
  /** What can be copied already, and is not shown again. */
  readonly shown?: string;
}) {
  const [first = '', ...lines] = (cure ?? '').split('\n');
  const isShown = lines.length > 0 && lines.join('\n') === shown;
  const paste = isShown ? [] : lines;
  return (
    <>
      <p className="break-words">{found}</p>
      {cure !== null && !isShown && (
        <div className="mt-1.5 space-y-1.5">
          <p className="text-sm break-words text-soft first-letter:uppercase">{first}</p>
          {paste.length > 0 && <CodeBlock label="what to publish" code={paste.join('\n')} wrap />}
        </div>
      )}
    </>
  );
}
