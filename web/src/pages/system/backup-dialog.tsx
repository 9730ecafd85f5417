import { useState } from 'react';
import type { StepOf } from '../../../../src/operations/table.ts';
import { stream } from '../../api.ts';
import { formatBytes, plural } from '../../format.ts';
import { Banner } from '../../parts/banner.tsx';
import { Progress, type Step, StepList } from '../../parts/progress.tsx';
import { RunDialog, useRun } from '../../parts/run.tsx';
import { SecretField } from '../../parts/text-field.tsx';

/** As the operation asks of a passphrase. */
const MIN_PASSPHRASE = 12;

/** Makes a backup, and tells how far it is. */
export function BackupDialog({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
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
      description="Mail goes on coming in and going out meanwhile."
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
              ? ' and found whole.'
              : `. The contents of ${plural(damaged ?? 0, 'message')} were damaged or missing on this machine already; everything else is in it.`}
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
          hint="Encrypts the secret key that goes along. Empty leaves it out: passwords of relays then have to be set anew after a restore, unless you keep secret.key yourself."
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
