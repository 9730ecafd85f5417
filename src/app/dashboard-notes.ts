import type { Random } from '../lib/random.ts';
import { NOTE_PREFIX, type Registry } from '../store/registry.ts';

/** What the dashboard keeps beside the settings. */
export interface DashboardNotes {
  /** Tells this installation from others on the same host. */
  readonly instance: string;
  /** Whether the guided path was left. */
  readonly skipped: () => boolean;
  skip(skipped: boolean): Promise<void>;
}

const INSTANCE = `${NOTE_PREFIX}instance`;
const FIRST_STEPS = `${NOTE_PREFIX}first_steps`;
const INSTANCE_BYTES = 5;

/** Reads the notes; an installation is named when they are read first. Rejects with `StoreError`. */
export async function readNotes(registry: Registry, random: Random): Promise<DashboardNotes> {
  const settings = await registry.settings();
  const named = textOf(settings.get(INSTANCE));
  const instance = named ?? Buffer.from(random.fill(new Uint8Array(INSTANCE_BYTES))).toString('hex');
  if (named === null) await registry.putSetting(INSTANCE, JSON.stringify(instance));
  let left = textOf(settings.get(FIRST_STEPS)) === 'skipped';
  return {
    instance,
    skipped: () => left,
    skip: async (skipped) => {
      await registry.putSetting(FIRST_STEPS, skipped ? JSON.stringify('skipped') : null);
      left = skipped;
    },
  };
}

function textOf(json: string | undefined): string | null {
  const value: unknown = json === undefined ? null : JSON.parse(json);
  return typeof value === 'string' ? value : null;
}
