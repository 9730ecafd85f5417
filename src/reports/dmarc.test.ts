import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dmarcXml } from '../../test/support/dmarc-xml.ts';
import { MAX_DMARC_ROWS } from '../domain/dmarc-report.ts';
import { atOnce } from '../lib/clock.ts';
import { readDmarcReport } from './dmarc.ts';

function read(xml: string) {
  return atOnce(readDmarcReport(xml));
}

function reportIn(xml: string) {
  const reading = read(xml);
  if (!reading.ok) throw new Error(reading.reason);
  return reading.report;
}

test('a report says who wrote it, which policy it went by, and what it saw', () => {
  const report = reportIn(
    dmarcXml({
      records: [
        { source: '192.0.2.1', count: 3 },
        { source: '2001:DB8::7', count: 2, dkim: 'fail', spf: 'fail', disposition: 'quarantine' },
      ],
    }),
  );
  expect(report).toEqual({
    reporter: 'receiver.example',
    contact: 'noreply-dmarc@receiver.example',
    reportId: '1234',
    domain: 'example.com',
    beginAt: Date.UTC(2026, 10, 20),
    endAt: Date.UTC(2026, 10, 20, 23, 59, 59),
    policy: { p: 'quarantine', sp: 'reject', pct: 50 },
    rows: [
      {
        source: '192.0.2.1',
        count: 3,
        disposition: 'none',
        dkim: true,
        spf: true,
        headerFrom: 'example.com',
        spfDomain: 'bounces.example.com',
        dkimDomain: 'example.com',
        selector: 'w1',
      },
      expect.objectContaining({ source: '2001:db8::7', dkim: false, spf: false, disposition: 'quarantine' }),
    ],
  });
});

test('rows alike are one', () => {
  const records = [1, 2, 3].map((count) => ({ source: '192.0.2.1', count }));
  expect(reportIn(dmarcXml({ records })).rows.map(({ count }) => count)).toEqual([6]);
});

test('what is above the limit of rows keeps its count, and loses its source', () => {
  const records = Array.from({ length: MAX_DMARC_ROWS + 10 }, (_, n) => ({
    source: `10.0.${n >> 8}.${n & 255}`,
    count: 2,
  }));
  const { rows } = reportIn(dmarcXml({ records }));
  expect(rows).toHaveLength(MAX_DMARC_ROWS + 1);
  expect(rows.at(-1)).toMatchObject({ source: '', count: 20, dkim: true, spf: true });
});

test('namespaces, comments, CDATA and entities are read as XML has them', () => {
  const xml = dmarcXml({ org: 'a &amp; b' })
    .replace('<feedback>', '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"><!-- <record> -->')
    .replace('<report_id>1234', '<report_id><![CDATA[12<34]]>');
  expect(reportIn(xml)).toMatchObject({ reporter: 'a & b', reportId: '12<34' });
});

test.each([
  ['nothing', ''],
  ['another document', '<html><body>Hello</body></html>'],
  ['no report_id', dmarcXml({ id: '' })],
  ['no domain', dmarcXml({ domain: 'not a domain' })],
  ['an end before the begin', dmarcXml().replace(/<end>\d+/, '<end>1')],
  ['a time of years', dmarcXml().replace(/<begin>\d+/, '<begin>1')],
  ['a count that is no number', dmarcXml().replace('<count>3', '<count>-3')],
  ['a count beyond all mail', dmarcXml().replace('<count>3', '<count>9999999999')],
  ['a source that is no address', dmarcXml({ records: [{ source: 'localhost', count: 1 }] })],
])('%s is refused', (_, xml) => {
  expect(read(xml).ok).toBe(false);
});

test('a million elements in one another end in a limit', () => {
  const started = process.cpuUsage();
  expect(read(`<feedback>${'<a>'.repeat(1_000_000)}`)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('deep'),
  });
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

test('a value without end is cut', () => {
  expect(reportIn(dmarcXml({ org: 'x'.repeat(1_000_000) })).reporter).toHaveLength(255);
});

test('entities of its own mean nothing', () => {
  const doctype = '<!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>';
  const xml = dmarcXml({ org: '&b;' }).replace('<feedback>', `${doctype}<feedback>`);
  expect(reportIn(xml).reporter).toBe('&b;');
});

test('any text ends in a report or a reason', () => {
  const whole = dmarcXml();
  const piece = fc.constantFrom(
    ...['<record>', '</record>', '<row>', '<feedback>', '</feedback>', '<count>', '<!--', '<![CDATA[', ']]>'],
    ...['&#0;', '&lt;', '<a b="', '\u0000', '\ud800', '9'],
  );
  fc.assert(
    fc.property(fc.nat(whole.length), fc.nat(40), fc.array(piece, { maxLength: 6 }), (at, cut, pieces) => {
      const reading = read(whole.slice(0, at) + pieces.join('') + whole.slice(at + cut));
      if (!reading.ok) return reading.reason.length > 0;
      return reading.report.rows.every(({ count }) => Number.isSafeInteger(count));
    }),
    { numRuns: 500 },
  );
});
