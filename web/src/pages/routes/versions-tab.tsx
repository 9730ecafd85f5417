import { History, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { type Column, codeColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Card } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import type { Table } from './editing.ts';
import { PublishDialog } from './publish-dialog.tsx';
import { MatchWords, To, ViaWords } from './rule-row.tsx';
import { draftsOf } from './rules.ts';

type Summary = ResultOf<'routeTables'>[number];

/** How many versions are listed. */
const LISTED = 200;

/** The tables that were published, and a way back to each. */
export function VersionsTab({ inForce }: { readonly inForce: Table }) {
  const tables = useCall('routeTables', { limit: LISTED }, { topics: ['routes'] });
  const [shown, setShown] = useState<number | null>(null);
  return (
    <Card title="Versions" note="Every published table, the newest first." flush>
      <Fetched query={tables}>
        {(rows) => (
          <DataTable
            label="Versions of the table"
            columns={COLUMNS}
            rows={rows}
            rowId={({ version }) => String(version)}
            onOpen={({ version }) => setShown(version)}
            empty={<EmptyState icon={History} title="Nothing was published yet" />}
          />
        )}
      </Fetched>
      {shown !== null && <Version version={shown} inForce={inForce} onClose={() => setShown(null)} />}
    </Card>
  );
}

const COLUMNS: readonly Column<Summary>[] = [
  {
    header: 'Version',
    width: '8rem',
    cell: ({ version, inForce }) => (
      <span className="inline-flex items-center gap-2">
        <span className="font-medium">{version}</span>
        {inForce && <Badge tone="good">In force</Badge>}
      </span>
    ),
  },
  timeColumn({ header: 'Published' }, ({ publishedAt }) => publishedAt),
  { header: 'Rules', cell: ({ ruleCount }) => plural(ruleCount, 'rule') },
  codeColumn({ header: 'Default relay' }, ({ defaultRelay }) => defaultRelay),
  {
    header: 'From',
    card: 'line',
    cell: ({ origin }) => (origin === 'file' ? 'the file' : 'here'),
  },
];

function Version({
  version,
  inForce,
  onClose,
}: {
  readonly version: number;
  readonly inForce: Table;
  readonly onClose: () => void;
}) {
  const table = useCall('routeTable', { version });
  const [asked, setAsked] = useState(false);
  const mayPublish = useMay('admin') && inForce.origin !== 'file' && version !== inForce.version;
  const rollback = useAct('rollbackRoutes', {
    quiet: true,
    done: (published) =>
      `The rules of version ${version} are in force again, as version ${published.version}`,
    onDone: onClose,
  });
  return (
    <Dialog
      kind="drawer"
      onClose={onClose}
      size="large"
      title={`Version ${version}`}
      footer={
        mayPublish && (
          <Button
            look="primary"
            icon={RotateCcw}
            label="Back to this version"
            disabled={!table.data}
            onClick={() => setAsked(true)}
          />
        )
      }
    >
      <Fetched query={table}>
        {({ rules, defaultRelay }) => (
          <ol className="divide-y divide-line rounded-md border border-line">
            {draftsOf(rules).map((rule) => (
              <li key={rule.id} className="px-3 py-2.5">
                <code className="font-mono text-sm font-medium">{rule.name}</code>
                <p className="break-words">
                  <MatchWords match={rule.match} />
                  <To />
                  <ViaWords via={rule.via} weighted={rule.weighted} known={null} />
                </p>
              </li>
            ))}
            <li className="px-3 py-2.5 text-soft">
              Everything else
              <To />
              <ViaWords via={[{ relay: defaultRelay, weight: 1 }]} weighted={false} known={null} />
            </li>
          </ol>
        )}
      </Fetched>
      {asked && table.data && (
        <PublishDialog
          before={inForce.rules}
          after={table.data.rules}
          title={`Back to version ${version}?`}
          act={rollback}
          onPublish={() => rollback.mutate({ version })}
          onClose={() => setAsked(false)}
        />
      )}
    </Dialog>
  );
}
