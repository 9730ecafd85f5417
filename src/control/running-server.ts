import type { DeniedTally } from '../observe/denied-tally.ts';
import type { HealthReport } from '../observe/health-report.ts';
import type { KeptLine } from '../observe/log-ring.ts';
import type { LaneHappening } from '../observe/relay-history.ts';
import type { Certificate } from '../tls/certificate.ts';

/** What the running server knows of itself, in memory, since it started. */
export interface RunningServer {
  readonly version: string;
  health(): HealthReport;
  /** Null where no port speaks TLS. */
  readonly certificate: Certificate | null;
  /** Port of the dashboard; null where it is off. */
  readonly webuiPort: number | null;
  /** Who was refused, the last first. */
  denied(): readonly DeniedTally[];
  /** Rests and recoveries of a relay's lanes, the newest first. */
  relayHistory(relay: string): readonly LaneHappening[];
  /** The last lines of the log, the oldest first. */
  logLines(): readonly KeptLine[];
}
