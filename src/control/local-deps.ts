import type { Fault } from '../config/fault.ts';
import type { Acts } from '../engine/acts.ts';
import type { Intake } from '../engine/intake.ts';
import type { QueueFigures } from '../engine/queue-figures.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { Keyring } from '../store/keyring.ts';
import type { Registry } from '../store/registry.ts';
import type { Views } from '../store/views.ts';
import type { InForce } from './route-tables.ts';

/** The rooms that operations work on. */
export interface LocalDeps {
  readonly keyring: Keyring;
  readonly views: Views;
  readonly registry: Registry;
  readonly intake: Intake;
  readonly acts: Acts;
  /** What the engine knows of its lanes. */
  readonly queue: QueueFigures;
  readonly clock: Clock;
  readonly random: Random;
  /** The data directory, absolute. */
  readonly dataDir: string;
  /** Whether this is the running server. */
  readonly running: boolean;
  /** The configuration in force, the vault that goes with it, and the version of its routing table. */
  readonly resolution: () => InForce;
  /** What was wrong with the sources when they were read last: then the configuration of before is in force. */
  readonly faults: () => readonly Fault[];
  /** Reads every source anew and puts it into force. Gives the faults that kept it from that. */
  readonly reload: () => Promise<readonly Fault[]>;
}
