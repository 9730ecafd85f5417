import type { BackupStep } from '../operations/system.ts';
import { bytesText } from './bytes-text.ts';
import { percentOf, type StepText } from './step-teller.ts';

const TITLES: Readonly<Record<BackupStep['phase'], string>> = {
  database: 'Copying the database',
  contents: 'Writing',
  verify: 'Reading it back',
  unpack: 'Unpacking and checking',
  mark: 'Holding what was still to be sent',
};

/** What a person is told of a step of a backup or a restore. */
export function backupStepText({ phase, doneBytes, totalBytes }: BackupStep): StepText {
  const share = totalBytes === 0 ? '' : `${percentOf(doneBytes, totalBytes)} % of ${bytesText(totalBytes)}`;
  return { title: TITLES[phase], share };
}
