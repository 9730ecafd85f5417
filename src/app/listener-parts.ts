import { createHash } from 'node:crypto';
import type { Reception } from '../accounts/reception.ts';
import type { Door } from '../control/door.ts';
import type { MessageWords } from '../control/message-words.ts';
import type { NodesSight } from '../control/nodes/sight.ts';
import type { QueueFigures } from '../engine/contract.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { Operations } from '../operations/table.ts';
import type { Preflight } from '../preflight/contract.ts';
import type { DmarcDesk } from '../reports/dmarc-desk.ts';
import { NOTE_PREFIX, type Registry } from '../store/registry.ts';
import type { DevAccess } from './dev.ts';
import type { LiveConfig } from './live-config.ts';
import type { Storage } from './storage.ts';

/** What listeners are made from. */
export interface ListenerParts {
  readonly storage: Storage;
  readonly live: LiveConfig;
  readonly engine: Engine;
  readonly events: Events;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  /** This process's name in the store, new at every start. */
  readonly node: string;
  /** All nodes, this one included. */
  readonly nodes: NodesSight;
  /** The figures of active lanes, on any node. */
  readonly queue: QueueFigures;
  readonly dataDir: string;
  /** All operations on this installation. */
  readonly operations: Operations;
  /** The way to them for all other callers: checks permission, and records what was done. */
  readonly door: Door;
  /** The users of the dashboard, and what it stores beside the settings. */
  readonly reception: Reception;
  readonly notes: DashboardNotes;
  /** Reads the text of stored messages. */
  readonly words: MessageWords;
  /** Takes the DMARC reports of receivers in. */
  readonly dmarcDesk: DmarcDesk;
  /** Who may use it without signing in; null: nobody. */
  readonly dev: DevAccess | null;
  /** Checks messages before they are sent. */
  readonly preflight: Preflight;
  /** Called on a failure after which no mail may be accepted. */
  readonly onFailure: (error: Error & { readonly code: string }) => void;
  /** Whether the machine has failed. */
  readonly failed: () => boolean;
  /** Whether mail is accepted now and for a while. */
  readonly ready: () => boolean;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
}

/** What the dashboard stores beside the settings. */
interface DashboardNotes {
  /** Distinguishes this installation from others on the same host. */
  readonly instance: string;
  /** Whether the guided path was skipped, on any node. */
  readonly skipped: () => Promise<boolean>;
  skip(skipped: boolean): Promise<void>;
}

const INSTANCE = `${NOTE_PREFIX}instance`;
const FIRST_STEPS = `${NOTE_PREFIX}first_steps`;
const INSTANCE_BYTES = 5;

/**
 * Reads the notes. The first reading names the installation after its secret key (by its id; null: at random), so that
 * nodes which do so at the same time choose the same name. Rejects with `StoreError`.
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
