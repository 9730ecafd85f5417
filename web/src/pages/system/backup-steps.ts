import type { StepOf } from '../../../../src/operations/table.ts';

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
