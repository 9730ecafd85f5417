import { createHash } from 'node:crypto';
import type { Random } from '../lib/random.ts';
import { NOTE_PREFIX, type Registry } from '../store/registry.ts';

/** What the dashboard keeps beside the settings. */
export interface DashboardNotes {
  /** Tells this installation from others on the same host. */
  readonly instance: string;
  /** Whether the guided path was left, on whichever node. */
  readonly skipped: () => Promise<boolean>;
  skip(skipped: boolean): Promise<void>;
}

const INSTANCE = `${NOTE_PREFIX}instance`;
const FIRST_STEPS = `${NOTE_PREFIX}first_steps`;
const INSTANCE_BYTES = 5;

/**
 * Reads the notes; an installation is named when they are read first, after its secret key (by its id; null: at random), so
 * that nodes which do so at the same time give it the same name. Rejects with `StoreError`.
 */
export async function readNotes(
  registry: Registry,
  keyId: string | null,
  random: Random,
): Promise<DashboardNotes> {
  const settings = await registry.settings();
  const named = textOf(settings.get(INSTANCE));
  const instance = named ?? nameFor(keyId, random);
  if (named === null) await registry.putSetting(INSTANCE, JSON.stringify(instance));
  return {
    instance,
    skipped: async () => textOf((await registry.settings()).get(FIRST_STEPS)) === 'skipped',
    skip: (skipped) => registry.putSetting(FIRST_STEPS, skipped ? JSON.stringify('skipped') : null),
  };
}

function nameFor(keyId: string | null, random: Random): string {
  const bytes =
    keyId === null
      ? random.fill(new Uint8Array(INSTANCE_BYTES))
      : createHash('sha256').update(`instance ${keyId}`).digest().subarray(0, INSTANCE_BYTES);
  return Buffer.from(bytes).toString('hex');
}

function textOf(json: string | undefined): string | null {
  const value: unknown = json === undefined ? null : JSON.parse(json);
  return typeof value === 'string' ? value : null;
}
