import type { Reception } from '../accounts/reception.ts';
import type { CertificateKeeper } from '../acme/keeper.ts';
import type { Fault } from '../config/fault.ts';
import type { StoredRows } from '../config/load.ts';
import type { Acts, Intake, QueueFigures } from '../engine/contract.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { HealthReport } from '../observe/health-report.ts';
import type { HookProof } from '../observe/hook-proofs.ts';
import type { KeptLine } from '../observe/log.ts';
import type { DeniedTally, LaneHappening } from '../observe/remembered.ts';
import type { Preflight } from '../preflight/contract.ts';
import type { DmarcDesk } from '../reports/dmarc-desk.ts';
import type { Spool } from '../spool/spool.ts';
import type { Keyring } from '../store/accounts.ts';
import type { Alerts } from '../store/alerts.ts';
import type { Cluster } from '../store/cluster.ts';
import type { Configuring } from '../store/configuring.ts';
import type { DmarcReports } from '../store/dmarc-reports.ts';
import type { Erasures } from '../store/erasing.ts';
import type { Issuing } from '../store/issuing.ts';
import type { Journal } from '../store/journal.ts';
import type { Registry } from '../store/registry.ts';
import type { RequestLog } from '../store/request-log.ts';
import type { Sharing } from '../store/sharing.ts';
import type { SuppressionList } from '../store/suppressions.ts';
import type { Templates } from '../store/templates.ts';
import type { TlsReports } from '../store/tls-reports.ts';
import type { Views } from '../store/views.ts';
import type { Webhooks } from '../store/webhooks.ts';
import type { Certificate } from '../tls/certificate.ts';
import type { InForce } from './in-force.ts';
import type { MessageWords } from './message-words.ts';

/** What operations work on. */
export interface LocalDeps {
  readonly keyring: Keyring;
  readonly views: Views;
  readonly registry: Registry;
  /** Changes many things of the configuration together. */
  readonly configuring: Configuring;
  readonly spool: Pick<Spool, 'read' | 'encryption'>;
  /** The users of the dashboard. */
  readonly reception: Reception;
  /** The activity: who did what. */
  readonly journal: Journal;
  /** The addresses that get no mail. */
  readonly suppressions: SuppressionList;
  /** People to be erased. */
  readonly erasures: Erasures;
  /** Who is told of events. */
  readonly webhooks: Webhooks;
  /** Alerts, and what is decided about them. */
  readonly alerts: Alerts;
  /** Stored templates of messages. */
  readonly templates: Templates;
  /** What became of requests to the API. */
  readonly requests: Pick<RequestLog, 'requests'>;
  /** What receivers report of mail in our name, and who takes such reports in. */
  readonly dmarc: DmarcReports;
  readonly dmarcDesk: DmarcDesk;
  /** The certificate that is ordered by ACME. */
  readonly issuing: Issuing;
  /** What users saved, and links to stories. */
  readonly sharing: Sharing;
  /** What is counted of sessions with domains' servers, and the reports on it. */
  readonly tlsReports: TlsReports;
  readonly intake: Intake;
  readonly acts: Acts;
  /** Reads the text of stored messages. */
  readonly words: MessageWords;
  /** Checks messages before they are sent. */
  readonly preflight: Preflight;
  /** Keeps the spool unchanged while it is copied. */
  readonly collection: Engine['collection'];
  /** Resolves when everything acknowledged is in the database file. */
  readonly written: () => Promise<void>;
  /** The engine's figures on its lanes. */
  readonly queue: QueueFigures;
  /** Called when a test found a stored relay working. */
  readonly foundWell: (relay: string) => void;
  /** The database of facts and contents that other nodes share; null: they are in the data directory. */
  readonly cluster: Cluster | null;
  readonly clock: Clock;
  readonly random: Random;
  /** The data directory, absolute. */
  readonly dataDir: string;
  /** Whether this is the running server. */
  readonly running: boolean;
  /** The configuration in force, with its vault and the version of its routing table. */
  readonly resolution: () => InForce;
  /** Faults of the sources at the last reading: if any, the previous configuration is in force. */
  readonly faults: () => readonly Fault[];
  /** Faults of the whole configuration if these settings and relays were the stored ones, settings' values as JSON. */
  readonly faultsWith: (stored: Partial<StoredRows>) => Promise<readonly Fault[]>;
  /** The running server's own state; null while none runs, or before it is known. */
  readonly server: () => RunningServer | null;
  /** Reads all sources again and applies them. Returns the faults that prevented that. */
  readonly reload: () => Promise<readonly Fault[]>;
}

/** The running server's state in memory: of itself since its start, and of the other nodes. */
export interface RunningServer {
  readonly version: string;
  /** This node's identity. */
  readonly node: { readonly id: string; readonly name: string };
  health(): HealthReport;
  /** Null if no port uses TLS. */
  readonly certificate: Certificate | null;
  /** Orders certificates by ACME; null if no port uses TLS. */
  readonly keeper: CertificateKeeper | null;
  /** Port of the dashboard; null if it is off. */
  readonly webuiPort: number | null;
  /** All mail is captured, whatever the routes say. */
  readonly capturesAll: boolean;
  /** Sources refused on any node, the most recent first. */
  denied(): readonly DeniedTally[];
  /** Undoes one counted refusal of a source for a reason: it was our own test. */
  takeBackDenied(sourceAddress: string, reason: string): void;
  /** Rests and recoveries of a relay's lanes on any node, the newest first. */
  relayHistory(relay: string): readonly LaneHappening[];
  /** When a relay's hook was last used on this node. */
  hookProofs(relay: string): HookProof;
  /** Forgets that. */
  forgetHookProofs(relay: string): void;
  /** The last lines of the log, the oldest first. */
  logLines(): readonly KeptLine[];
}
