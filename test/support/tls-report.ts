import { NO_POLICY, type TlsReport, type TlsSession } from '../../src/domain/tls-report.ts';
import type { TlsCount } from '../../src/store/tls-reports.ts';

/** The day of these, since 1970: 20 November 2026. */
export const REPORTED_DAY = Date.UTC(2026, 10, 20) / 86_400_000;

/** A good session, changed as wished. */
export function tlsSession(change: Partial<TlsSession> = {}): TlsSession {
  const nothing = { mxHost: null, mxAddress: null, localAddress: null, reason: null };
  return { policy: NO_POLICY, result: null, ...nothing, ...change };
}

/** Three good sessions, changed as wished. */
export function tlsCount(change: Partial<TlsCount> = {}): TlsCount {
  return {
    day: REPORTED_DAY,
    domain: 'example.net',
    kind: 'good',
    session: tlsSession(),
    count: 3,
    ...change,
  };
}

/** A report that waits, changed as wished. */
export function tlsReport(change: Partial<TlsReport> = {}): TlsReport {
  return {
    day: REPORTED_DAY,
    domain: 'example.net',
    reportId: '2026-11-20-example.net@mail.example.com',
    state: 'waiting',
    targets: [{ uri: 'mailto:tls@example.net', state: 'waiting', detail: '', messageId: null }],
    tries: 0,
    nextAt: 1000,
    updatedAt: 10,
    ...change,
  };
}
