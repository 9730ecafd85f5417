import { Archive, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { ask } from '../../parts/ask.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button, DownloadLink, IconButton } from '../../parts/button.tsx';
import { actsColumn, type Column, countColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Card } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Bytes } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { BackupDialog } from './backup-dialog.tsx';

type Backup = ResultOf<'backups'>[number];

/** Backups, where what is to be backed up is ours: over PostgreSQL it is not. */
export function BackupTab() {
  const system = useCall('system', {});
  return (
    <Fetched query={system} lines={4}>
      {({ storage }) =>
        storage.spoolBytes === null ? (
          <Card title="Backups">
            Facts and contents lie in PostgreSQL, whose own tools back them up while the service goes on, such
            as pg_dump. Keep the secret key of the nodes beside what they write: without it passwords of
            relays and signing keys cannot be read.
          </Card>
        ) : (
          <Backups />
        )
      }
    </Fetched>
  );
}

/** Backups in the data directory: what there is, and one more now. */
function Backups() {
  const backups = useCall('backups', {});
  const [making, setMaking] = useState(false);
  const refresh = () => void backups.refetch();
  return (
    <Card
      flush
      title="Backups"
      note="Made while the service goes on. Keep copies on another machine."
      actions={
        <Button small look="primary" icon={Archive} label="Back up now" onClick={() => setMaking(true)} />
      }
    >
      <Fetched query={backups}>
        {(rows) => (
          <DataTable
            label="Backups"
            columns={columnsOf(refresh)}
            rows={rows}
            rowId={({ name }) => name}
            empty={
              <EmptyState icon={Archive} title="No backup yet">
                A backup holds all facts and contents. With a passphrase it holds the secret key too, so that
                passwords of relays can be read after it was restored.
              </EmptyState>
            }
          />
        )}
      </Fetched>
      {making && <BackupDialog onClose={() => setMaking(false)} onDone={refresh} />}
    </Card>
  );
}

function askToRemove(name: string, onDone: () => void): void {
  ask('removeBackup', {
    request: { name },
    done: 'Backup removed',
    onDone,
    title: 'Remove this backup?',
    text: (
      <p>
        <span className="font-mono text-sm break-all">{name}</span> is deleted from the disk. This cannot be
        undone.
      </p>
    ),
    confirm: 'Remove backup',
    danger: true,
  });
}

function columnsOf(onRemoved: () => void): readonly Column<Backup>[] {
  return [
    {
      header: 'Backup',
      width: 'minmax(0, 2fr)',
      cell: ({ name, path }) => (
        <span className="font-mono text-sm break-all" title={path}>
          {name}
        </span>
      ),
    },
    timeColumn({ header: 'Made', width: '7rem', card: 'figure', sorts: true }, ({ createdAt }) => createdAt),
    countColumn({ header: 'Messages', width: '6.5rem' }, ({ messages }) => messages),
    {
      header: 'Size',
      width: '6rem',
      align: 'end',
      cell: ({ sizeBytes }) => <Bytes bytes={sizeBytes} />,
      sort: ({ sizeBytes }) => sizeBytes,
    },
    {
      header: 'Contents',
      width: '15rem',
      card: 'plain',
      cell: ({ verified, damaged = 0, withSecretKey }) => (
        <span className="flex flex-wrap gap-1">
          {verified ? (
            <Badge tone="good">Read back</Badge>
          ) : (
            <Badge tone="warn">{plural(damaged, 'message')} damaged</Badge>
          )}
          {withSecretKey && <Badge>Secret key</Badge>}
        </span>
      ),
    },
    actsColumn('5rem', ({ name }) => (
      <>
        <DownloadLink href={`/api/backups/${encodeURIComponent(name)}`} name={name} />
        <IconButton
          small
          icon={Trash2}
          label={`Remove ${name}`}
          onClick={() => askToRemove(name, onRemoved)}
        />
      </>
    )),
  ];
}
