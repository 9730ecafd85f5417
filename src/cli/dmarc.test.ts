import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dmarcXml } from '../../test/support/dmarc-xml.ts';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const dmarc = (...args: string[]) => here.waybill(['dmarc', ...args]);

/** A file of a report on yesterday's mail. */
function file(name: string, xml: Parameters<typeof dmarcXml>[0], pack = gzipSync): string {
  const path = join(here.folder, name);
  writeFileSync(path, pack(dmarcXml({ begin: Math.floor(Date.now() / 1000) - 86_400, ...xml })));
  return path;
}

withAndWithoutServer(
  () => here,
  () => {
    test('reports are taken in, and say who sends and what passes', async () => {
      expect((await dmarc('show')).out).toMatch(/^There are no reports of these days\. /);
      const records = [
        { source: '192.0.2.1', count: 30 },
        { source: '198.51.100.7', count: 10, dkim: 'fail', spf: 'fail', disposition: 'quarantine' },
      ] as const;
      const report = file('a.xml.gz', { records });
      const refused = await dmarc('import', report);
      expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('register it first')]);
      await here.waybill(['domains', 'add', 'example.com']);
      expect((await dmarc('import', report)).out).toBe(
        'Taken in: receiver.example about example.com, 40 messages.\n',
      );
      expect((await dmarc('import', report)).out).toMatch(/^Was there already: /);
      const { out } = await dmarc('show', 'Example.com');
      expect(out).toMatch(/example\.com +quarantine \(50 %\) +40 +75\.0 %\n/);
      expect(out).toMatch(
        /192\.0\.2\.1 +30 +100\.0 % +100\.0 % +100\.0 % +0 +example\.com +bounces\.example\.com\n/,
      );
      expect(out).toMatch(/198\.51\.100\.7 +10 +0\.0 % +0\.0 % +0\.0 % +10 /);
      expect((await dmarc('source', '198.51.100.7')).out).toMatch(
        /receiver\.example +10 +example\.com +fail other\.example s1 +fail bounces\.example\.com +quarantine/,
      );
      expect((await dmarc('reports')).out).toMatch(
        /receiver\.example +example\.com +\S+ +40 +75\.0 % +dmr_\w{26}\n$/,
      );
      const first = await here.json(['dmarc', 'reports', '--limit', '1']);
      expect(first).toMatchObject({ reports: [{ via: 'upload', reportId: '1234' }], next: null });
    });

    test('what is no report is refused with the reason', async () => {
      const wrong = file('b.gz', {}, () => gzipSync('<?xml version="1.0"?><html></html>'));
      const { status, err } = await dmarc('import', wrong);
      expect([status, err]).toEqual([
        2,
        expect.stringContaining('This is no DMARC report: it names no domain'),
      ]);
      expect((await dmarc('import', join(here.folder, 'none.zip'))).status).toBe(1);
      writeFileSync(join(here.folder, 'huge'), Buffer.alloc(5_000_000));
      expect((await dmarc('import', join(here.folder, 'huge'))).err).toContain('larger than 4194304 bytes');
    });
  },
);
