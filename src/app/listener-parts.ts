import type { Reception } from '../accounts/reception.ts';
import type { Door } from '../control/door.ts';
import type { MessageWords } from '../control/message-words.ts';
import type { NodesSight } from '../control/nodes/sight.ts';
import type { Engine } from '../engine/engine.ts';
import type { QueueFigures } from '../engine/queue-figures.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import type { Events } from '../observe/events.ts';
import type { Operations } from '../operations/table.ts';
import type { DashboardNotes } from './dashboard-notes.ts';
import type { LiveConfig } from './live-config.ts';
import type { Storage } from './storage.ts';

/** What listeners are made of. */
export interface ListenerParts {
  readonly storage: Storage;
  readonly live: LiveConfig;
  readonly engine: Engine;
  readonly events: Events;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  /** This process's name in the store; another at every start. */
  readonly node: string;
  /** This one, and those beside it. */
  readonly nodes: NodesSight;
  /** What is known of the lanes at work, on whichever node. */
  readonly queue: QueueFigures;
  readonly dataDir: string;
  /** Everything that can be asked of this installation. */
  readonly operations: Operations;
  /** The way to them for everybody else: asks whether they may, and writes down what they did. */
  readonly door: Door;
  /** Those who use the dashboard, and what it keeps beside the settings. */
  readonly reception: Reception;
  readonly notes: DashboardNotes;
  /** What stored messages say. */
  readonly words: MessageWords;
  /** Told of a failure after which no mail may be taken. */
  readonly onFailure: (error: Error & { readonly code: string }) => void;
  /** Whether the machine has failed. */
  readonly failed: () => boolean;
  /** Whether mail is accepted now, and will be for a while. */
  readonly ready: () => boolean;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
}
