import type { Progress } from '../control/progress.ts';
import type { BackupStep } from '../control/system-operations.ts';
import { bytesText } from './bytes-text.ts';
import type { CommonOptions, Context } from './context.ts';

const WORDS: Readonly<Record<BackupStep['phase'], string>> = {
  database: 'Copying the database',
  contents: 'Writing',
  verify: 'Reading it back',
  unpack: 'Unpacking and checking',
  mark: 'Holding what was still to be sent',
};
/** A person is told so often. */
const TELL_EVERY_MS = 2_000;

/** Tells a person on a terminal how far a backup or a restore is; nobody else. */
export function stepTeller({ terminal, clock }: Context, { json }: CommonOptions): Progress<BackupStep> {
  let phase: BackupStep['phase'] | null = null;
  let toldAt = 0;
  return {
    signal: new AbortController().signal,
    tell: (step) => {
      if (json || terminal.columns() === null) return;
      const now = clock.mono();
      if (step.phase === phase && now - toldAt < TELL_EVERY_MS) return;
      ({ phase } = step);
      toldAt = now;
      const share = step.totalBytes === 0 ? '' : `: ${percentOf(step)} % of ${bytesText(step.totalBytes)}`;
      terminal.err(`${WORDS[step.phase]}${share} …`);
    },
  };
}

function percentOf({ doneBytes, totalBytes }: BackupStep): number {
  return Math.min(100, Math.floor((doneBytes / totalBytes) * 100));
}
