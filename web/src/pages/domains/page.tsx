import { linkOptions, useNavigate } from '@tanstack/react-router';
import { Globe, Plus, RefreshCw } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { type Choice, Select } from '../../parts/choice.tsx';
import { type Column, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { ActionForm, type FormInHand } from '../../parts/form.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';

type Domain = ResultOf<'domains'>[number];
type Checked = ResultOf<'checkDomains'>;

/** The domains that mail is sent from, and signed for. */
export function DomainsPage() {
  const domains = useCall('domains', {}, { topics: ['domains'] });
  const mayAdd = useMay('admin');
  const mayCheck = useMay('operator');
  const [adding, setAdding] = useState(false);
  const check = useAct('checkDomains');
  const columns = useMemo(() => columnsOf(check.data ?? null), [check.data]);
  const add = mayAdd && (
    <Button look="primary" icon={Plus} label="Add domain" onClick={() => setAdding(true)} />
  );
  return (
    <Page
      title="Domains"
      note="Mail from these domains is signed with DKIM, so that receivers can verify that it is yours."
      actions={
        (domains.data?.length ?? 0) > 0 && (
          <>
            {mayCheck && (
              <Button
                icon={RefreshCw}
                label="Check all"
                busy={check.isPending}
                onClick={() => check.mutate({ name: null })}
              />
            )}
            {add}
          </>
        )
      }
    >
      <Card flush>
        <Fetched query={domains} shape="table">
          {(rows) => (
            <DataTable
              label="Domains"
              columns={columns}
              rows={rows}
              rowId={({ name }) => name}
              rowLink={({ name }) => linkOptions({ to: '/domains/$name', params: { name } })}
              empty={
                <EmptyState icon={Globe} title="No domain yet" actions={add}>
                  Register the domain that you send from. Waybill makes its keys, signs its mail, and says
                  which DNS records to publish.
                </EmptyState>
              }
            />
          )}
        </Fetched>
      </Card>
      {adding && <AddDomain onClose={() => setAdding(false)} />}
    </Page>
  );
}

function columnsOf(checked: Checked | null): readonly Column<Domain>[] {
  return [
    {
      header: 'Domain',
      width: 'minmax(0, 2fr)',
      sort: ({ name }) => name,
      cell: ({ name }) => <span className="block truncate font-medium">{name}</span>,
    },
    {
      header: 'Keys',
      cell: ({ keys }) => {
        const waiting = keys.filter(({ state }) => state === 'waiting').length;
        const signing = keys.filter(({ state }) => state === 'signing').length;
        return (
          <span>
            {signing === 0 ? (
              <span className="text-failed">none signs</span>
            ) : (
              `${plural(signing, 'key')} signing`
            )}
            {waiting > 0 && <span className="text-soft">, {waiting} waiting</span>}
          </span>
        );
      },
    },
    {
      header: 'In the DNS',
      card: 'aside',
      cell: ({ name, keys }) => {
        if (keys.some(({ unreadable }) => unreadable))
          return <StatusBadge status="fail" title="A key cannot be read" />;
        const found = checked?.find((domain) => domain.name === name);
        const worst = found && worstOf(found.findings);
        return worst ? <StatusBadge status={worst} /> : <span className="text-soft">not checked</span>;
      },
    },
    timeColumn({ header: 'Since', width: '8rem', sorts: true }, ({ since }) => since),
  ];
}

const NEW_DOMAIN = { name: '', algorithm: 'both' as Algorithm, selector: '' };

/** Registers a domain, and makes its first keys. */
function AddDomain({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <ActionForm
      sheet={{
        title: 'Add a domain',
        description: 'Its mail is signed at once. Receivers can verify that once the records are in the DNS.',
      }}
      operation="addDomain"
      initial={NEW_DOMAIN}
      request={({ name, algorithm, selector }) => ({
        name: name.trim(),
        algorithm,
        selector: selector.trim() || null,
      })}
      done={({ name }) => `${name} is registered`}
      onDone={({ name }) => void navigate({ to: '/domains/$name', params: { name } })}
      submit="Add domain"
      onClose={onClose}
    >
      {({ field }) => (
        <>
          <TextField
            label="Domain"
            hint="The part after the @ of your senders."
            placeholder="example.com"
            required
            verbatim
            {...field('name')}
          />
          <KeyChoice field={field} />
        </>
      )}
    </ActionForm>
  );
}

/** What new keys are made with. */
export type Algorithm = 'rsa' | 'ed25519' | 'both';

const ALGORITHMS: readonly Choice<Algorithm>[] = [
  { value: 'both', label: 'RSA and Ed25519', note: 'Verified everywhere, and ready for the future.' },
  { value: 'rsa', label: 'RSA, 2048 bits', note: 'Verified everywhere. One record.' },
  { value: 'ed25519', label: 'Ed25519', note: 'Short and quick, but not verified by everyone yet.' },
];

/** The algorithm of new keys, and, for those who want it otherwise, their selector. */
export function KeyChoice({
  field,
}: Pick<FormInHand<{ readonly algorithm: Algorithm; readonly selector: string }>, 'field'>) {
  return (
    <>
      <Select label="Keys" choices={ALGORITHMS} {...field('algorithm')} />
      <TextField
        label="Selector"
        hint="The DNS label of the keys. Empty: made from the date."
        mono
        verbatim
        maxLength={63}
        {...field('selector')}
      />
    </>
  );
}

// What a check of the DNS found, beside the records that it is about.

/** A record to publish. */
export type DnsRecord = ResultOf<'domain'>['records'][number];
/** What was found in one place. */
export type Finding = ResultOf<'checkDomains'>[number]['findings'][number];

/** What a record is called by the findings on it. */
function findingName({ purpose, name }: Pick<DnsRecord, 'purpose' | 'name'>): string {
  if (purpose === 'dkim') return `DKIM ${name.split('.')[0] ?? ''}`;
  if (purpose === 'return_path_mx') return 'return path MX';
  return purpose === 'return_path_spf' ? 'return path SPF' : purpose.toUpperCase();
}

/** What was found on a record: the worst of it; null where nobody has looked. */
export function findingOf(
  record: Pick<DnsRecord, 'purpose' | 'name'>,
  findings: readonly Finding[],
): Finding | null {
  const own = findings.filter(({ name }) => name === findingName(record));
  return own.find(({ status }) => status === worstOf(own)) ?? null;
}

/** What was found that is about none of the records: how the domain receives mail, for example. */
export function otherFindings(
  records: readonly DnsRecord[],
  findings: readonly Finding[],
): readonly Finding[] {
  const shown = records.map((record) => findingOf(record, findings));
  return findings.filter((finding) => !shown.includes(finding));
}

/** How a domain is, all in all: the worst that was found. */
export function worstOf(findings: readonly Finding[]): Finding['status'] | null {
  const order = ['fail', 'warn', 'ok', 'skipped'] as const;
  return order.find((status) => findings.some((finding) => finding.status === status)) ?? null;
}
