import type { DmarcRow } from '../../src/domain/dmarc-report.ts';
import type { AddedDmarcReport } from '../../src/store/dmarc-reports.ts';

/** A row of a report, of mail that passed, changed as wished. */
export function dmarcRow(change: Partial<DmarcRow> = {}): DmarcRow {
  return {
    source: '192.0.2.1',
    count: 3,
    disposition: 'none',
    dkim: true,
    spf: true,
    headerFrom: 'example.com',
    spfDomain: 'bounces.example.com',
    dkimDomain: 'example.com',
    selector: 'w1',
    ...change,
  };
}

/** A report on 20 November 2026, changed as wished. */
export function dmarcReport(change: Partial<AddedDmarcReport> = {}): AddedDmarcReport {
  const beginAt = Date.UTC(2026, 10, 20);
  return {
    id: 'dmr_1',
    receivedAt: beginAt + 90_000_000,
    via: 'mail',
    reporter: 'receiver.example',
    contact: 'dmarc@receiver.example',
    reportId: '1234',
    domain: 'example.com',
    beginAt,
    endAt: beginAt + 86_399_000,
    policy: { p: 'none', sp: null, pct: 100 },
    rows: [dmarcRow()],
    ...change,
  };
}
