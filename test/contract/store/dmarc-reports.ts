import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AddedDmarcReport } from '../../../src/store/dmarc-reports.ts';
import { dmarcReport, dmarcRow } from '../../support/dmarc-report.ts';
import { DAY, type OpenSubject, type Subject } from './fixtures.ts';

const BEGIN = Date.UTC(2026, 10, 20);
const ALWAYS = { domain: null, since: 0, until: BEGIN * 2 };

/** What the store of DMARC reports promises. */
export function dmarcContract(open: OpenSubject): void {
  describe('dmarc reports', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const add = async (...reports: Partial<AddedDmarcReport>[]) => {
      for (const [place, report] of reports.entries())
        await subject.dmarc.addDmarcReport(
          dmarcReport({ id: `dmr_${place}`, reportId: `r${place}`, ...report }),
        );
    };
    const ids = async (domain: string | null, before: string | null, limit: number) =>
      (await subject.dmarc.dmarcReports({ domain, before, limit })).map(({ id }) => id);

    it('keeps a report once, across a restart', async () => {
      const report = dmarcReport({ rows: [dmarcRow(), dmarcRow({ count: 4, dkim: false, spf: false })] });
      expect(await subject.dmarc.addDmarcReport(report)).toBe(true);
      subject = await subject.reopen();
      expect(await subject.dmarc.addDmarcReport({ ...report, id: 'dmr_2' })).toBe(false);
      expect(await subject.dmarc.addDmarcReport({ ...report, id: 'dmr_3', reporter: 'other' })).toBe(true);
      const { rows: _, ...rest } = report;
      const [, first] = await subject.dmarc.dmarcReports({ domain: null, before: null, limit: 9 });
      expect(first).toEqual({ ...rest, messages: 7, passed: 3 });
    });

    it('pages through reports, the newest first, of one domain or of all', async () => {
      await add({}, { domain: 'other.example' }, {}, {});
      expect(await ids(null, null, 2)).toEqual(['dmr_3', 'dmr_2']);
      expect(await ids(null, 'dmr_2', 9)).toEqual(['dmr_1', 'dmr_0']);
      expect(await ids('other.example', null, 9)).toEqual(['dmr_1']);
      expect(await ids('none.example', null, 9)).toEqual([]);
    });

    it('sums up days of domains, with the policy of the newest report', async () => {
      const policy = { p: 'reject', sp: null, pct: 100 } as const;
      const failed = { rows: [dmarcRow({ count: 5, dkim: false, spf: false })] };
      await add({}, failed, { policy }, { beginAt: BEGIN + DAY }, { domain: 'a.example' });
      expect(await subject.dmarc.dmarcDays(BEGIN, BEGIN + 2 * DAY)).toEqual([
        { domain: 'a.example', day: BEGIN / DAY, messages: 3, passed: 3, policy: dmarcReport().policy },
        { domain: 'example.com', day: BEGIN / DAY, messages: 11, passed: 6, policy },
        { domain: 'example.com', day: BEGIN / DAY + 1, messages: 3, passed: 3, policy: dmarcReport().policy },
      ]);
      expect(await subject.dmarc.dmarcDays(BEGIN + DAY, BEGIN + 2 * DAY)).toHaveLength(1);
    });

    it('tells which addresses sent, and what of their mail passed', async () => {
      const rows = [
        dmarcRow(),
        dmarcRow({ source: '2001:db8::1', count: 10, dkim: false, spf: false, disposition: 'reject' }),
        dmarcRow({ source: '2001:db8::1', count: 1, dkim: false, disposition: 'quarantine' }),
        dmarcRow({ source: '', count: 1 }),
      ];
      await add({ rows }, { rows: [dmarcRow({ count: 2, spf: false })] }, { domain: 'other.example' });
      const { sources, count } = await subject.dmarc.dmarcSources({ ...ALWAYS, domain: 'example.com' }, 2);
      expect(count).toBe(3);
      const names = { dkimDomain: 'example.com', spfDomain: 'bounces.example.com' };
      expect(sources).toEqual([
        {
          source: '2001:db8::1',
          messages: 11,
          passed: 1,
          dkim: 0,
          spf: 1,
          quarantined: 1,
          rejected: 10,
          ...names,
        },
        {
          source: '192.0.2.1',
          messages: 5,
          passed: 5,
          dkim: 5,
          spf: 3,
          quarantined: 0,
          rejected: 0,
          ...names,
        },
      ]);
      expect((await subject.dmarc.dmarcSources({ ...ALWAYS, since: BEGIN + 1 }, 9)).count).toBe(0);
    });

    it('tells what each reporter says of an address, alike rows as one', async () => {
      const failed = dmarcRow({ count: 9, dkim: false, spf: false });
      await add(
        {},
        { rows: [dmarcRow(), failed] },
        { reporter: 'other', rows: [failed] },
        {
          rows: [dmarcRow({ source: '192.0.2.9' })],
        },
      );
      const rows = await subject.dmarc.dmarcRowsOf('192.0.2.1', ALWAYS, 9);
      expect(rows).toEqual([
        { ...failed, reporter: 'other' },
        { ...failed, reporter: 'receiver.example' },
        { ...dmarcRow(), count: 6, reporter: 'receiver.example' },
      ]);
      expect(await subject.dmarc.dmarcRowsOf('192.0.2.1', ALWAYS, 1)).toHaveLength(1);
    });

    it('forgets reports by their age, and the oldest beyond a number of rows', async () => {
      const rows = [dmarcRow(), dmarcRow({ count: 9, dkim: false })];
      await add(...[0, 1, 2, 3, 4].map((day) => ({ beginAt: BEGIN + day * DAY, rows })));
      expect(await subject.dmarc.forgetDmarcReports(BEGIN + DAY, 100, 10)).toBe(1);
      expect(await subject.dmarc.forgetDmarcReports(BEGIN + DAY, 100, 10)).toBe(0);
      expect(await subject.dmarc.forgetDmarcReports(0, 3, 1)).toBe(1);
      expect(await subject.dmarc.forgetDmarcReports(0, 3, 10)).toBe(2);
      expect(await ids(null, null, 9)).toEqual(['dmr_4']);
      expect((await subject.dmarc.dmarcRowsOf('192.0.2.1', ALWAYS, 9)).map(({ count }) => count)).toEqual([
        9, 3,
      ]);
    });

    it('forgets reports without rows, too, when there are too many', async () => {
      await add(...[0, 1, 2, 3].map((day) => ({ beginAt: BEGIN + day * DAY, rows: [] })));
      expect(await subject.dmarc.forgetDmarcReports(0, 2, 10)).toBe(2);
      expect(await ids(null, null, 9)).toEqual(['dmr_3', 'dmr_2']);
    });
  });
}
