import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { KeyRound, RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Page } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Time } from '../../parts/values.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { KeysTab } from './keys-tab.tsx';
import { RecordsTab } from './records-tab.tsx';
import { RotateKeys } from './rotate-keys.tsx';

/** One domain: what to put into the DNS, what stands there, and the keys that sign. */
export function DomainPage() {
  const { name } = useParams({ from: '/domains/$name' });
  const { tab = 'records' } = useSearch({ from: '/domains/$name' });
  const navigate = useNavigate({ from: '/domains/$name' });
  const domain = useCall('domain', { name }, { topics: ['domains'] });
  const mayChange = useMay('admin');
  const mayCheck = useMay('operator');
  const [asked, setAsked] = useState<'rotate' | 'remove' | null>(null);
  const check = useAct('checkDomains', {
    changes: ['domains'],
    done: ([checked]) =>
      checked && checked.switchedTo.length > 0
        ? `${checked.switchedTo.join(', ')} signs from now on`
        : 'Checked',
  });
  const close = () => setAsked(null);
  return (
    <Page
      title={name}
      heading={<span className="break-all">{name}</span>}
      back={{ to: '/domains', label: 'Domains' }}
      note={
        domain.data && (
          <>
            Registered <Time at={domain.data.since} />
          </>
        )
      }
      actions={
        domain.data && (
          <>
            {mayChange && (
              <>
                <Button look="quiet" icon={Trash2} onClick={() => setAsked('remove')}>
                  Remove
                </Button>
                <Button icon={KeyRound} onClick={() => setAsked('rotate')}>
                  New keys
                </Button>
              </>
            )}
            {mayCheck && (
              <Button
                look="primary"
                icon={RefreshCw}
                busy={check.isPending}
                onClick={() => check.mutate({ name })}
              >
                Check the DNS
              </Button>
            )}
          </>
        )
      }
    >
      <Fetched query={domain} lines={8}>
        {(detail) => (
          <>
            <Tabs
              label="About this domain"
              value={tab}
              onChange={(next) =>
                void navigate({ search: next === 'records' ? {} : { tab: next }, replace: true })
              }
              tabs={[
                {
                  value: 'records',
                  label: 'Records',
                  content: <RecordsTab domain={detail} checked={check.data?.[0] ?? null} />,
                },
                { value: 'keys', label: 'Keys', content: <KeysTab keys={detail.keys} /> },
              ]}
            />
            {asked === 'rotate' && <RotateKeys domain={detail} onClose={close} />}
            {asked === 'remove' && <Remove name={detail.name} onClose={close} />}
          </>
        )}
      </Fetched>
    </Page>
  );
}

function Remove({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const router = useRouter();
  const remove = useAct('removeDomain', {
    changes: ['domains'],
    quiet: true,
    done: `${name} is removed`,
    onDone: () => void router.navigate({ to: '/domains' }),
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={() => remove.mutate({ name })}
      busy={remove.isPending}
      title="Remove this domain?"
      confirm="Remove domain"
      danger
      typed={name}
    >
      <p>
        Its keys are destroyed, and its mail goes unsigned from then on. Leave its records in the DNS for 35
        days: mail that was signed may still be under way, or be checked late.
      </p>
      <FormError>{remove.error?.message ?? null}</FormError>
    </ConfirmDialog>
  );
}
