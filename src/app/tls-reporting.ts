import { serverName } from '../config/names.ts';
import { signerOf } from '../domain/domain-keys.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { TlsCounts } from '../reports/tls-counts.ts';
import { TlsReporter, type TlsReportTerms } from '../reports/tls-reporter.ts';
import type { TlsWatch } from '../transport/mx/sessions.ts';
import { postOutwards } from '../transport/providers/webhook-post.ts';
import type { LiveConfig } from './live-config.ts';
import type { TransportParts } from './relays.ts';
import type { Storage } from './storage.ts';

/** Counts sessions with the servers of domains, and reports on them (RFC 8460). */
export interface TlsReporting {
  readonly watch: TlsWatch;
  /** Writes what was counted, and reports, until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** What it needs. */
interface TlsReportingParts extends Pick<TransportParts, 'clock' | 'log' | 'dns'> {
  readonly storage: Pick<Storage, 'tlsReports'>;
  readonly live: Pick<LiveConfig, 'config'>;
  readonly engine: Pick<Engine, 'intake' | 'isFirst'>;
  readonly version: string;
  /** Everything is captured: nobody is told of anything. */
  readonly capturesAll: boolean;
}

const WRITE_EVERY_MS = 10_000;
const ROUND_EVERY_MS = 60_000;

/** Makes it; nothing is counted or sent unless `tls_reports.from` is set. */
export function createTlsReporting(parts: TlsReportingParts): TlsReporting {
  const { storage, live, engine, dns, clock, log, capturesAll } = parts;
  const store = storage.tlsReports;
  const counts = new TlsCounts(store, clock);
  const terms = (): TlsReportTerms | null => {
    const { from, organization } = live.config.tlsReports;
    const hostname = serverName(live.config);
    if (from === null || capturesAll) return null;
    const isSigned = signerOf(from.slice(from.lastIndexOf('@') + 1), live.config.domains) !== null;
    return { from, organization: organization ?? hostname, hostname, isSigned };
  };
  const { intake } = engine;
  const { resolver } = dns;
  const reporter = new TlsReporter({ store, intake, resolver, post: postOf(parts), clock, log, terms });
  return {
    watch: { isOn: () => terms() !== null, note: counts.note, isReport: reporter.isReport },
    run: async (signal) => {
      const report = async () => {
        if (signal.aborted) return;
        await reporter.look();
        if (engine.isFirst()) await reporter.round(signal);
      };
      // A round waits for the servers of others; what was counted does not wait for it.
      await Promise.all([
        repeat(() => counts.write(), WRITE_EVERY_MS, { clock, log, signal }),
        repeat(report, ROUND_EVERY_MS, { clock, log, signal }),
      ]);
    },
  };
}

/** Works at once, again after each pause, and a last time once the signal aborts. Never rejects. */
async function repeat(
  work: () => Promise<void>,
  pauseMs: number,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    const isLast = signal.aborted;
    try {
      await work();
    } catch (error) {
      log.warn('tls_report.failed', { message: error instanceof Error ? error.message : String(error) });
    }
    if (isLast) return;
    await clock.sleep(pauseMs, signal);
  }
}

const TAKEN = { from: 200, to: 299 };

/** Posts to whatever a stranger's record names: never to a private address, never in clear. */
function postOf({ live, clock, version }: TlsReportingParts) {
  return async (uri: string, gzip: Uint8Array, signal: AbortSignal): Promise<string | null> => {
    const post = { url: uri, headers: {}, body: gzip, contentType: 'application/tlsrpt+gzip' };
    const terms = { clock, version, dnsServers: () => live.config.dns.servers };
    const { status, error } = await postOutwards(
      { ...post, allowPrivate: false, secrets: [] },
      terms,
      signal,
    );
    if (status === null) return error ?? 'there was no answer';
    return status >= TAKEN.from && status <= TAKEN.to ? null : `the answer was ${status}`;
  };
}
