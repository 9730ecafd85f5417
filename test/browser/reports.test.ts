import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { dmarcXml } from '../support/dmarc-xml.ts';
import { zipOf } from '../support/zip.ts';
import { Dashboard, NEEDED } from './dashboard.ts';

/** DMARC reports: from files to who sends in our name. */

describeWith(NEEDED, 'reports', () => {
  let dashboard: Dashboard;
  let page: Page;

  beforeAll(async () => {
    dashboard = await Dashboard.start();
    await dashboard.claim();
    await dashboard.installation.run('domains', 'add', 'example.com');
    page = await dashboard.signedIn('/reports');
  }, 120_000);
  afterAll(async () => {
    const { strays, surprises } = dashboard;
    await dashboard.stop();
    expect([[...strays], surprises]).toEqual([[], []]);
  });

  test('are imported from files, each of which says what became of it, and shown at once', async () => {
    await page.getByRole('heading', { name: 'No reports in this time' }).waitFor();
    const begin = Math.floor(Date.now() / 1000) - 86_400;
    const records = [
      { source: '192.0.2.1', count: 90 },
      { source: '203.0.113.77', count: 10, dkim: 'fail', spf: 'fail', disposition: 'reject' },
    ] as const;
    const zip = zipOf([['report.xml', dmarcXml({ begin, records })]]);
    const other = zipOf([['report.xml', dmarcXml({ begin, domain: 'example.org' })]]);
    await page.getByRole('button', { name: 'Import reports' }).click();
    await page.getByLabel('Files').setInputFiles([
      { name: 'a.zip', mimeType: 'application/zip', buffer: zip },
      { name: 'b.zip', mimeType: 'application/zip', buffer: other },
      { name: 'c.xml', mimeType: 'text/xml', buffer: Buffer.from('<html/>') },
    ]);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('1 report imported').waitFor();
    await page.getByText('2 files could not be imported.').waitFor();
    await page.getByText(/The report is about example\.org/).waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    const rows = page.getByRole('table', { name: 'Who sends' }).getByRole('row');
    const cells = await rows.filter({ hasText: '203.0.113.77' }).getByRole('cell').allInnerTexts();
    expect(cells.slice(3)).toEqual(['10', '0 %', '0 %', '0 %', '10']);
    await page.getByText('90 %', { exact: true }).first().waitFor();
  });

  test('say of an address what each receiver saw', async () => {
    await page.getByRole('table', { name: 'Who sends' }).getByText('203.0.113.77').click();
    const drawer = page.getByRole('dialog', { name: '203.0.113.77' });
    await drawer.getByText('receiver.example').waitFor();
    await drawer.getByText('Failed', { exact: true }).waitFor();
    await drawer.getByText('Refused', { exact: true }).waitFor();
    expect(page.url()).toContain('source=203.0.113.77');
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Reports received' }).click();
    await page.getByRole('table', { name: 'Reports received' }).getByText('receiver.example').waitFor();
  });

  test('on TLS say where they went, and how to turn them on', async () => {
    await page.goto('/reports?tab=tls');
    await page.getByRole('heading', { name: 'TLS reports are off' }).waitFor();
    const target = { uri: 'mailto:tls@example.net', state: 'sent', detail: '', messageId: null };
    const day = {
      date: '2026-11-20',
      sessions: 12,
      failed: 2,
      state: 'sent',
      targets: [target],
      nextAt: null,
    };
    await page.route('**/api/call/tlsReports', async (route) => {
      const days = [{ ...day, domain: 'example.net' }];
      await route.fulfill({ json: { days, next: null, isOn: true } });
    });
    await page.goto('/reports?tab=tls');
    const row = page.getByRole('table', { name: 'TLS reports' }).getByRole('row').last();
    await row.getByText('example.net', { exact: true }).waitFor();
    expect(await row.getByRole('cell').allInnerTexts()).toEqual([
      'example.net',
      '2026-11-20',
      '12',
      '2',
      'sent',
      'mailto:tls@example.net',
    ]);
    await page.unroute('**/api/call/tlsReports');
  });
});
