import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TlsSession } from '../../../src/domain/tls-report.ts';
import type { TlsCount } from '../../../src/store/tls-reports.ts';
import { REPORTED_DAY as DAY, tlsCount, tlsReport, tlsSession } from '../../support/tls-report.ts';
import type { OpenSubject, Subject } from './fixtures.ts';

const EXPIRED: TlsSession = tlsSession({
  policy: { type: 'sts', strings: ['version: STSv1', 'mode: enforce'], mxHosts: ['mx.example.net'] },
  result: 'certificate-expired',
  mxHost: 'mx.example.net',
  mxAddress: '192.0.2.1',
});

/** What the store of TLS sessions and reports promises. */
export function tlsReportContract(open: OpenSubject): void {
  describe('tls reports', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const count = (...counts: Partial<TlsCount>[]) =>
      subject.tlsReports.countTlsSessions(counts.map(tlsCount), 2);
    const bad = { kind: 'bad', session: EXPIRED };

    it('adds up sessions alike, across a restart', async () => {
      await count({}, { ...bad, count: 1 });
      subject = await subject.reopen();
      await count({ count: 4 }, { domain: 'other.example' }, { day: DAY + 1 });
      expect(await subject.tlsReports.tlsSessions(DAY, 'example.net')).toEqual([
        { session: tlsSession(), count: 7 },
        { session: EXPIRED, count: 1 },
      ]);
    });

    it('counts kinds beyond the bound without their details', async () => {
      const elsewhere = (mxAddress: string) => ({ kind: mxAddress, session: { ...EXPIRED, mxAddress } });
      await count({}, { ...bad, count: 1 }, elsewhere('192.0.2.2'), elsewhere('192.0.2.3'));
      const found = await subject.tlsReports.tlsSessions(DAY, 'example.net');
      const policy = { type: 'sts', strings: [], mxHosts: [] };
      const bare = { ...EXPIRED, policy, mxHost: null, mxAddress: null };
      expect(found).toContainEqual({ session: bare, count: 6 });
      expect(found).toHaveLength(3);
    });

    it('names days without a report, and reports that are due', async () => {
      const { tlsReports } = subject;
      await count({}, { domain: 'a.example' }, { day: DAY + 1 });
      const unreported = () => tlsReports.unreportedTlsDays(DAY + 1, 9);
      expect(await unreported()).toEqual([
        { day: DAY, domain: 'a.example' },
        { day: DAY, domain: 'example.net' },
      ]);
      await tlsReports.saveTlsReport(tlsReport());
      await tlsReports.saveTlsReport(tlsReport({ domain: 'a.example', state: 'unwanted' }));
      expect(await unreported()).toEqual([]);
      expect(await tlsReports.dueTlsReports(999, 9)).toEqual([]);
      expect(await tlsReports.dueTlsReports(1000, 9)).toEqual([tlsReport()]);
      const sent = tlsReport({
        state: 'sent',
        tries: 1,
        updatedAt: 20,
        targets: [{ uri: 'mailto:tls@example.net', state: 'sent', detail: 'sent', messageId: 'msg_1' }],
      });
      await tlsReports.saveTlsReport(sent);
      expect(await tlsReports.dueTlsReports(9999, 9)).toEqual([]);
      expect(await tlsReports.tlsReportMessages(DAY, 9)).toEqual(['msg_1']);
      expect(await tlsReports.tlsReportMessages(DAY + 1, 9)).toEqual([]);
      const [, shown] = await tlsReports.tlsDays({ domain: 'example.net', after: null, limit: 9 });
      expect(shown?.report).toEqual(sent);
    });

    it('pages through days of domains, the newest first', async () => {
      const { tlsReports } = subject;
      await count({}, { ...bad, count: 2 }, { domain: 'a.example' }, { day: DAY + 1 });
      await tlsReports.saveTlsReport(tlsReport());
      const all = { domain: null, after: null, limit: 9 };
      const first = { day: DAY + 1, domain: 'example.net', sessions: 3, failed: 0, report: null };
      const second = { day: DAY, domain: 'a.example', sessions: 3, failed: 0, report: null };
      const third = { day: DAY, domain: 'example.net', sessions: 5, failed: 2, report: tlsReport() };
      expect(await tlsReports.tlsDays(all)).toEqual([first, second, third]);
      expect(await tlsReports.tlsDays({ ...all, limit: 1 })).toEqual([first]);
      expect(await tlsReports.tlsDays({ ...all, after: second })).toEqual([third]);
      expect(await tlsReports.tlsDays({ ...all, domain: 'a.example' })).toEqual([second]);
    });

    it('forgets old days', async () => {
      const { tlsReports } = subject;
      await count({}, { ...bad }, { day: DAY + 1 });
      await tlsReports.saveTlsReport(tlsReport());
      expect(await tlsReports.forgetTlsReports(DAY + 1, 1)).toBe(1);
      expect(await tlsReports.forgetTlsReports(DAY + 1, 9)).toBe(1);
      expect(await tlsReports.forgetTlsReports(DAY + 1, 9)).toBe(0);
      expect(
        (await tlsReports.tlsDays({ domain: null, after: null, limit: 9 })).map(({ day }) => day),
      ).toEqual([DAY + 1]);
      expect(await tlsReports.dueTlsReports(9999, 9)).toEqual([]);
    });
  });
}
