import type { Reception } from '../accounts/reception.ts';
import type { Fault } from '../config/fault.ts';
import type { Acts, Intake, QueueFigures } from '../engine/contract.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { HealthReport } from '../observe/health-report.ts';
import type { KeptLine } from '../observe/log.ts';
import type { DeniedTally, LaneHappening } from '../observe/remembered.ts';
import type { Spool } from '../spool/spool.ts';
import type { Keyring } from '../store/accounts.ts';
import type { Cluster } from '../store/cluster.ts';
import type { Journal } from '../store/journal.ts';
import type { Registry } from '../store/registry.ts';
import type { Views } from '../store/views.ts';
import type { Certificate } from '../tls/certificate.ts';
import type { InForce } from './in-force.ts';
import type { MessageWords } from './message-words.ts';

/** The rooms that operations work on. */
export interface LocalDeps {
  readonly keyring: Keyring;
  readonly views: Views;
  readonly registry: Registry;
  readonly spool: Pick<Spool, 'read'>;
  /** Those who use the dashboard. */
  readonly reception: Reception;
  /** Who did what. */
  readonly journal: Journal;
  readonly intake: Intake;
  readonly acts: Acts;
  /** What stored messages say. */
  readonly words: MessageWords;
  /** Holds the spool as it is, while somebody copies it. */
  readonly collection: Engine['collection'];
  /** Resolves when all that was answered is in the database's file. */
  readonly written: () => Promise<void>;
  /** What the engine knows of its lanes. */
  readonly queue: QueueFigures;
  /** Told that a test found a stored relay to be well. */
  readonly foundWell: (relay: string) => void;
  /** Facts and contents lie in a database that other nodes use too; null: in the data directory. */
  readonly cluster: Cluster | null;
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
  /** What would be wrong with all settings together if these were stored, values as JSON. */
  readonly faultsWith: (settings: ReadonlyMap<string, string>) => Promise<readonly Fault[]>;
  /** What the running server knows of itself; null where none runs, or not yet. */
  readonly server: () => RunningServer | null;
  /** Reads every source anew and puts it into force. Gives the faults that kept it from that. */
  readonly reload: () => Promise<readonly Fault[]>;
}

/** What the running server knows in memory, of itself since it started, and of the other nodes. */
export interface RunningServer {
  readonly version: string;
  /** Which of the nodes it is. */
  readonly node: { readonly id: string; readonly name: string };
  health(): HealthReport;
  /** Null where no port speaks TLS. */
  readonly certificate: Certificate | null;
  /** Port of the dashboard; null where it is off. */
  readonly webuiPort: number | null;
  /** Who was refused on any node, the last first. */
  denied(): readonly DeniedTally[];
  /** Takes one refusal of a source for a reason back: it was a test of our own. */
  takeBackDenied(sourceAddress: string, reason: string): void;
  /** Rests and recoveries of a relay's lanes on any node, the newest first. */
  relayHistory(relay: string): readonly LaneHappening[];
  /** The last lines of the log, the oldest first. */
  logLines(): readonly KeptLine[];
}
