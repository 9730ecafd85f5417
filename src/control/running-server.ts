import type { HealthReport } from '../observe/health-report.ts';
import type { KeptLine } from '../observe/log.ts';
import type { DeniedTally, LaneHappening } from '../observe/remembered.ts';
import type { Certificate } from '../tls/certificate.ts';

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
