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

test('names of elements without end cost no more than their length', () => {
  const started = process.cpuUsage();
  const name = 'a'.repeat(200_000);
  expect(read(`<feedback><${name}>${'<b></b>'.repeat(50_000)}</${name}></feedback>`).ok).toBe(false);
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

test.each([
  ['a comment', `<!--${'x'.repeat(8_000_000)}-->`],
  ['an attribute', `<a b="${'x'.repeat(8_000_000)}"></a>`],
  ['many attributes', `<a ${'b="c" '.repeat(1_000_000)}></a>`],
  ['entities', `<a>${'&amp;'.repeat(1_500_000)}</a>`],
])('%s of megabytes is read in time linear in it', (_, part) => {
  const started = process.cpuUsage();
  expect(read(dmarcXml().replace('<version>', `${part}<version>`)).ok).toBe(true);
  expect(process.cpuUsage(started).user).toBeLessThan(8_000_000);
});

test.each([
  ['between records', /<record>/],
  ['in a record that could be read', /<\/record>/],
  ['before its end', /<\/feedback>/],
])('a report that is cut off %s is refused: the whole one may still come', (_, end) => {
  const xml = dmarcXml({ records: [1, 2].map((count) => ({ source: '192.0.2.1', count })) });
  const last = [...xml.matchAll(new RegExp(end, 'g'))].at(-1)?.index ?? 0;
  expect(read(xml.slice(0, last))).toMatchObject({ ok: false, reason: expect.stringContaining('cut off') });
});

test('a report that counts more mail than there is ends in a limit: sums of all reports stay exact', () => {
  const records = Array.from({ length: 11 }, (_, n) => ({ source: `192.0.2.${n}`, count: 1_000_000_000 }));
  expect(reportIn(dmarcXml({ records: records.slice(1) })).rows).toHaveLength(10);
  expect(read(dmarcXml({ records })).ok).toBe(false);
});

test('a value without end is cut', () => {
  expect(reportIn(dmarcXml({ org: 'x'.repeat(1_000_000) })).reporter).toHaveLength(255);
});

test('a document type is refused: a report has none, and its entities would be code', () => {
  const doctype = '<!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>';
  const xml = dmarcXml({ org: '&b;' }).replace('<feedback>', `${doctype}<feedback>`);
  expect(read(xml)).toMatchObject({ ok: false, reason: expect.stringContaining('document type') });
  expect(reportIn(dmarcXml({ org: '&b;' })).reporter).toBe('&b;');
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
