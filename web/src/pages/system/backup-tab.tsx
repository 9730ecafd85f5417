import { Archive, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf, StepOf } from '../../../../src/operations/table.ts';
import { stream } from '../../api.ts';
import { formatBytes, plural } from '../../format.ts';
import { ask } from '../../parts/ask.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button, DownloadLink, IconButton } from '../../parts/button.tsx';
import {
  actsColumn,
  type Column,
  column,
  countColumn,
  DataTable,
  timeColumn,
} from '../../parts/data-table.tsx';
import { Card } from '../../parts/page.tsx';
import { Progress, type Step, StepList } from '../../parts/progress.tsx';
import { RunDialog, useRun } from '../../parts/run.tsx';
import { Banner, EmptyState, Fetched } from '../../parts/states.tsx';
import { SecretField } from '../../parts/text-field.tsx';
import { Bytes } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';

type Backup = ResultOf<'backups'>[number];

/** Backups, where what is to be backed up is ours: over PostgreSQL it is not. */
export function BackupTab() {
  const system = useCall('system', {});
  return (
    <Fetched query={system} lines={4}>
      {({ storage }) =>
        storage.spoolBytes === null ? (
          <Card title="Backups">
            Facts and contents lie in PostgreSQL, whose own tools back them up while the service runs, such as
            pg_dump. Keep the nodes' secret key with the backup: without it relay passwords and signing keys
            cannot be read.
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
      note="Made while the service runs. Keep copies on another machine."
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
                A backup holds all facts and contents. With a passphrase it also holds the secret key, so that
                relay passwords can be read after a restore.
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
    column(
      { header: 'Size', width: '6rem', align: 'end', sorts: true },
      ({ sizeBytes }) => sizeBytes,
      (bytes) => <Bytes bytes={bytes} />,
    ),
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

/** As the operation asks of a passphrase. */
const MIN_PASSPHRASE = 12;

/** Makes a backup, and tells how far it is. */
function BackupDialog({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const [passphrase, setPassphrase] = useState('');
  const [steps, setSteps] = useState<readonly StepOf<'backup'>[]>([]);
  const run = useRun(async (signal) => {
    setSteps([]);
    const result = await stream(
      'backup',
      { file: null, passphrase: passphrase === '' ? null : passphrase },
      (step) => setSteps((earlier) => [...earlier, step]),
      signal,
    );
    onDone();
    return result;
  });
  const isTooShort = passphrase !== '' && passphrase.length < MIN_PASSPHRASE;
  return (
    <RunDialog
      run={run}
      title="Back up now"
      description="Mail is still accepted and sent meanwhile."
      confirm="Back up"
      cancel="Close"
      disabled={isTooShort}
      onClose={onClose}
      report={({ verified, sizeBytes, messages, damaged }) => (
        <>
          <Running steps={steps} finished />
          <Banner level={verified ? 'info' : 'warning'} title="The backup is made">
            {formatBytes(sizeBytes)}, {plural(messages, 'message')}, read back
            {verified
              ? ' and complete.'
              : `. The contents of ${plural(damaged ?? 0, 'message')} were already damaged or missing on this machine; everything else is in it.`}
          </Banner>
        </>
      )}
    >
      {run.state === 'running' ? (
        <Running steps={steps} finished={false} />
      ) : (
        <SecretField
          label="Passphrase for the secret key"
          autoComplete="new-password"
          value={passphrase}
          onChange={setPassphrase}
          error={isTooShort ? `At least ${MIN_PASSPHRASE} characters.` : undefined}
          hint="Encrypts the secret key in the backup. Empty leaves it out: you must then set relay passwords again after a restore, unless you keep secret.key yourself."
        />
      )}
    </RunDialog>
  );
}

function Running({
  steps,
  finished,
}: {
  readonly steps: readonly StepOf<'backup'>[];
  readonly finished: boolean;
}) {
  const phases = backupSteps(steps, finished);
  return (
    <StepList
      label="Backup"
      steps={phases.map(
        ({ title, state, doneBytes, totalBytes }): Step => ({
          title,
          state,
          detail:
            state === 'running' && totalBytes > 0 ? (
              <>
                <Progress label={title} value={doneBytes / totalBytes} />
                <span>
                  {formatBytes(doneBytes)} of {formatBytes(totalBytes)}
                </span>
              </>
            ) : undefined,
        }),
      )}
    />
  );
}

type BackupStep = StepOf<'backup'>;

const PHASES: readonly (readonly [phase: BackupStep['phase'], title: string])[] = [
  ['database', 'Copy the facts'],
  ['contents', 'Copy the contents'],
  ['verify', 'Read it back'],
];

/** A phase of a backup, as it is shown. */
export interface BackupPhase {
  readonly title: string;
  readonly state: 'waiting' | 'running' | 'ok';
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** Every phase of a backup after these steps: what lies before the one that was told of last is done. */
export function backupSteps(steps: readonly BackupStep[], finished: boolean): readonly BackupPhase[] {
  const last = steps.at(-1);
  const current = PHASES.findIndex(([phase]) => phase === last?.phase);
  return PHASES.map(([phase, title], index) => {
    const told = steps.findLast((step) => step.phase === phase);
    const state = finished || index < current ? 'ok' : index === current ? 'running' : 'waiting';
    return { title, state, doneBytes: told?.doneBytes ?? 0, totalBytes: told?.totalBytes ?? 0 };
  });
}
