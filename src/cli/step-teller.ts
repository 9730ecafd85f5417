import type { Progress } from '../operations/operation.ts';
import type { BackupStep } from '../operations/system.ts';
import type { CommonOptions, Context } from './context.ts';

/** What a person is told of a step. */
export interface StepText {
  /** What is being done; told at once when it changes. */
  readonly title: string;
  /** How far it is, such as `34 % of 2 GiB`; empty where nobody knows. */
  readonly share: string;
}

/** A person is told so often. */
const TELL_EVERY_MS = 2_000;

/** Tells a person on a terminal how far something is that takes a while; nobody else. */
export function stepTeller<Step>(
  { terminal, clock }: Context,
  { json }: CommonOptions,
  textOf: (step: Step) => StepText,
): Progress<Step> {
  let told: string | null = null;
  let toldAt = 0;
  return {
    signal: new AbortController().signal,
    tell: (step) => {
      if (json || terminal.columns() === null) return;
      const now = clock.mono();
      const { title, share } = textOf(step);
      if (title === told && now - toldAt < TELL_EVERY_MS) return;
      told = title;
      toldAt = now;
      terminal.err(`${title}${share === '' ? '' : `: ${share}`} …`);
    },
  };
}

/** How much of something is done, in percent. */
export function percentOf(done: number, total: number): number {
  return total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100));
}

const TITLES: Readonly<Record<BackupStep['phase'], string>> = {
  database: 'Copying the database',
  contents: 'Writing',
  verify: 'Reading it back',
  unpack: 'Unpacking and checking',
  mark: 'Holding mail that was still to be sent',
};

/** What a person is told of a step of a backup or a restore. */
export function backupStepText({ phase, doneBytes, totalBytes }: BackupStep): StepText {
  const share = totalBytes === 0 ? '' : `${percentOf(doneBytes, totalBytes)} % of ${bytesText(totalBytes)}`;
  return { title: TITLES[phase], share };
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes as people read it: `512 bytes`, `1.5 MiB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
