import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { ActionForm } from '../../parts/action.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { CellActions, type Column, DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Count, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { IfMay } from '../../session.tsx';

type Denied = ResultOf<'denials'>[number];

/** Who was refused lately, and a way to let them in. */
export function DenialsCard({ of }: { readonly of: readonly NonNullable<Denied['setting']>[] }) {
  const denials = useCall('denials', {}, { topics: ['denials'] });
  const [asked, setAsked] = useState<Denied | null>(null);
  const columns: readonly Column<Denied>[] = [
    {
      id: 'source',
      header: 'Source',
      cell: ({ sourceAddress }) => <span className="font-mono text-sm break-all">{sourceAddress}</span>,
    },
    { id: 'reason', header: 'Why', cell: ({ reason }) => <span className="break-words">{reason}</span> },
    {
      id: 'count',
      header: 'Times',
      width: '5rem',
      align: 'end',
      cell: ({ count }) => <Count value={count} />,
    },
    { id: 'last', header: 'Last', width: '7rem', cell: ({ lastAt }) => <Time at={lastAt} /> },
    {
      id: 'act',
      header: 'Actions',
      headerHidden: true,
      width: '5rem',
      align: 'end',
      card: 'aside',
      cell: (row) =>
        row.setting !== null && (
          <IfMay role="admin">
            <CellActions>
              <Button small aria-label={`Allow ${row.sourceAddress}`} onClick={() => setAsked(row)}>
                Allow
              </Button>
            </CellActions>
          </IfMay>
        ),
    },
  ];
  return (
    <Card title="Refused lately" note="Sources that were turned away since the start." flush>
      <Fetched query={denials} lines={3}>
        {(rows) => (
          <DataTable
            label="Refused sources"
            columns={columns}
            rows={rows.filter(({ setting }) => setting === null || of.includes(setting))}
            rowId={({ sourceAddress, reason }) => `${sourceAddress} ${reason}`}
            empty={<EmptyState icon={ShieldCheck} title="Nobody was refused" />}
          />
        )}
      </Fetched>
      {asked !== null && <AllowDialog denied={asked} onClose={() => setAsked(null)} />}
    </Card>
  );
}

/** Adds a refused source to the list of those that are allowed, once it was looked at. */
function AllowDialog({ denied, onClose }: { readonly denied: Denied; readonly onClose: () => void }) {
  const { sourceAddress, setting } = denied;
  const [cidr, setCidr] = useState(`${sourceAddress}/${sourceAddress.includes(':') ? 128 : 32}`);
  return (
    <Dialog
      open
      onClose={onClose}
      size="small"
      title="Allow this source?"
      description={
        <>
          It is added to <code className="font-mono text-sm">{setting}</code>, at once.
        </>
      }
    >
      <ActionForm
        operation="allowSource"
        request={() => setting && { setting, cidr: cidr.trim() }}
        fields={['cidr']}
        changes={['settings', 'denials']}
        done={`${cidr} is allowed`}
        onDone={onClose}
        submit="Allow it"
        cancel="Keep it out"
        onClose={onClose}
      >
        {(faults) => (
          <>
            {setting === 'listener.allowed_cidrs' && (
              <p>Whoever sends from there may then send mail to anybody, without a key.</p>
            )}
            <TextField
              label="Address or range"
              mono
              spellCheck={false}
              value={cidr}
              onChange={setCidr}
              error={faults['cidr']}
              hint="A whole network has fewer digits behind the slash: /24, or /64 of IPv6."
            />
          </>
        )}
      </ActionForm>
    </Dialog>
  );
}
