import { useNavigate, useParams } from '@tanstack/react-router';
import { KeyRound, RefreshCw, Trash2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { ask } from '../../parts/ask.tsx';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { type Column, codeColumn, DataTable, statusColumn, timeColumn } from '../../parts/data-table.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Time } from '../../parts/values.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { type Algorithm, KeyChoice } from '../domains/page.tsx';
import { RecordsTab } from './records-tab.tsx';

/** One domain: what to put into the DNS, what stands there, and the keys that sign. */
export function DomainPage() {
  const { name } = useParams({ from: '/domains/$name' });
  const navigate = useNavigate();
  const domain = useCall('domain', { name }, { topics: ['domains'] });
  const mayChange = useMay('admin');
  const mayCheck = useMay('operator');
  const [rotating, setRotating] = useState(false);
  const [returning, setReturning] = useState(false);
  const check = useAct('checkDomains', {
    done: ([checked]) =>
      checked && checked.switchedTo.length > 0
        ? `${checked.switchedTo.join(', ')} signs from now on`
        : 'Checked',
  });
  const askToRemove = () =>
    ask('removeDomain', {
      request: { name },
      done: `${name} is removed`,
      onDone: () => void navigate({ to: '/domains' }),
      title: 'Remove this domain?',
      text: 'Its keys are destroyed, and its mail is no longer signed. Leave its records in the DNS for 35 days: signed mail may still be in transit, or be checked late.',
      confirm: 'Remove domain',
      danger: true,
      typed: name,
    });
  return (
    <Page
      title={name}
      heading={<span className="break-all">{name}</span>}
      back={{ to: '/domains', label: 'Domains' }}
      note={
        domain.data && (
          <>
            Registered <Time at={domain.data.since} />
            {domain.data.returnPath &&
              `; bounces come back to ${domain.data.returnPath.domain} (${RETURN_PATH_STATES[domain.data.returnPath.state]})`}
          </>
        )
      }
      actions={
        domain.data && (
          <>
            {mayChange && (
              <>
                <Button look="quiet" icon={Trash2} label="Remove" onClick={askToRemove} />
                <Button icon={Undo2} label="Return path" onClick={() => setReturning(true)} />
                <Button icon={KeyRound} label="New keys" onClick={() => setRotating(true)} />
              </>
            )}
            {mayCheck && (
              <Button
                look="primary"
                icon={RefreshCw}
                label="Check the DNS"
                busy={check.isPending}
                onClick={() => check.mutate({ name })}
              />
            )}
          </>
        )
      }
    >
      <Fetched query={domain} lines={8}>
        {(detail) => (
          <>
            <PageTabs
              label="About this domain"
              tabs={[
                {
                  value: 'records',
                  label: 'Records',
                  content: <RecordsTab domain={detail} checked={check.data?.[0] ?? null} />,
                },
                { value: 'keys', label: 'Keys', content: <KeysTab keys={detail.keys} /> },
              ]}
            />
            {returning && <ChangeReturnPath domain={detail} onClose={() => setReturning(false)} />}
            {rotating && <RotateKeys domain={detail} onClose={() => setRotating(false)} />}
          </>
        )}
      </Fetched>
    </Page>
  );
}

type Key = ResultOf<'domain'>['keys'][number];

const COLUMNS: readonly Column<Key>[] = [
  codeColumn({ header: 'Selector', width: 'minmax(0, 1.4fr)' }, ({ selector }) => selector),
  statusColumn({ header: 'State', card: 'aside' }, ({ state, unreadable }) =>
    unreadable ? 'unreadable' : state,
  ),
  {
    header: 'Algorithm',
    cell: ({ algorithm }) => (algorithm === 'rsa-sha256' ? 'RSA' : 'Ed25519'),
  },
  timeColumn({ header: 'Made', width: '8rem' }, ({ createdAt }) => createdAt),
  timeColumn({ header: 'Signs since', width: '8rem' }, ({ activeSince }) => activeSince),
  {
    header: 'Record needed',
    width: '9rem',
    cell: ({ recordUntil }) =>
      recordUntil === null ? (
        'as long as it signs'
      ) : (
        <span title="Mail that it signed may still be in transit">
          until <Time at={recordUntil} />
        </span>
      ),
  },
];

/** The keys of a domain: those that sign, that will, and that have. */
function KeysTab({ keys }: { readonly keys: readonly Key[] }) {
  return (
    <Card flush>
      <DataTable label="DKIM keys" columns={COLUMNS} rows={keys} rowId={({ selector }) => selector} />
    </Card>
  );
}

/** Gives a domain return paths of its own, or takes them away. */
function ChangeReturnPath({
  domain,
  onClose,
}: {
  readonly domain: ResultOf<'domain'>;
  readonly onClose: () => void;
}) {
  return (
    <ActionForm
      sheet={{
        title: 'Where do bounces come back to?',
        description:
          'Receivers check SPF for the domain of the return path. With one below this domain, SPF counts for it (DMARC alignment).',
      }}
      operation="updateDomain"
      initial={{ returnPath: domain.returnPath?.domain ?? '' }}
      request={({ returnPath }) => ({ name: domain.name, returnPath: returnPath.trim() || null })}
      done="The return path is changed"
      onDone={onClose}
      submit="Save"
      onClose={onClose}
    >
      {({ field }) => (
        <TextField
          label="Domain of return paths"
          hint={`Such as bounces.${domain.name}, without mailboxes. It is used once a check of the DNS has seen its records. Empty: bounces.domain.`}
          mono
          verbatim
          maxLength={253}
          {...field('returnPath')}
        />
      )}
    </ActionForm>
  );
}

const RETURN_PATH_STATES = {
  waiting: 'waits for its records',
  used: 'in use',
  failing: 'not used, as its records are gone',
} as const;

/** Makes new keys for a domain, which sign once their records can be seen. */
function RotateKeys({
  domain,
  onClose,
}: {
  readonly domain: ResultOf<'domain'>;
  readonly onClose: () => void;
}) {
  const [now, setNow] = useState(false);
  return (
    <ActionForm
      sheet={{
        title: 'Make new keys?',
        description:
          'They sign as soon as their records are visible in the DNS. Until then the present ones do.',
      }}
      operation="rotateDomain"
      initial={{ algorithm: algorithmOf(domain), selector: '' }}
      request={({ algorithm, selector }) => ({
        name: domain.name,
        algorithm,
        selector: selector.trim() || null,
        now,
      })}
      done={now ? 'The new keys sign' : 'The new keys wait for their records'}
      onDone={onClose}
      submit="Make new keys"
      cancel="Keep the present ones"
      look={now ? 'danger' : 'primary'}
      onClose={onClose}
    >
      {({ field }) => (
        <>
          <KeyChoice field={field} />
          <Checkbox
            label="Sign with them at once"
            hint="Only if others may have the present keys: until the records are in the DNS, receivers cannot verify signatures."
            checked={now}
            onChange={setNow}
          >
            Sign with them at once
          </Checkbox>
        </>
      )}
    </ActionForm>
  );
}

/** What the domain signs with now. */
function algorithmOf({ keys }: ResultOf<'domain'>): Algorithm {
  const signing = keys.filter(({ state }) => state === 'signing').map(({ algorithm }) => algorithm);
  const hasRsa = signing.includes('rsa-sha256');
  const hasEd = signing.includes('ed25519-sha256');
  return hasRsa === hasEd ? 'both' : hasRsa ? 'rsa' : 'ed25519';
}
