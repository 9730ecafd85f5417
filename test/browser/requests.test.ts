import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { CAPTURING, Dashboard, NEEDED } from './dashboard.ts';
import { settled, tooWide } from './looks.ts';

/** Why a call failed, and why the printer cannot send, on the dashboard's page Requests. */

/** What is connected from elsewhere may not send. */
const PRINTER = '127.0.0.9';
const configuration = CAPTURING.replace('listener: {', 'listener: { allowed_cidrs: ["127.0.0.1"],');

describeWith(NEEDED, 'the log of requests', () => {
  let dashboard: Dashboard;
  let shop: Client;
  let wide: Page;
  let phone: Page;

  beforeAll(async () => {
    dashboard = await Dashboard.start(configuration);
    await dashboard.claim();
    wide = await dashboard.signedIn('/');
    phone = await dashboard.signedIn('/', { width: 375, height: 812, colorScheme: 'dark' });
  }, 120_000);
  afterAll(async () => {
    const { strays, surprises } = dashboard;
    await dashboard.stop();
    expect([[...strays], surprises]).toEqual([[], []]);
  });

  const rows = (page: Page) => page.getByRole('table', { name: 'Requests' }).getByRole('row');
  const row = (page: Page, text: string) => rows(page).filter({ hasText: text });
  const ask = (path: string, key: string, rest: RequestInit = {}) =>
    fetch(new URL(path, shop.messages), {
      ...rest,
      headers: { authorization: `Bearer ${key}`, ...rest.headers },
    });

  test('begins empty, and says what will be there', async () => {
    await wide.goto('/requests');
    await wide.getByText('No request yet').waitFor();
  });

  test('shows what was asked, what was answered and why, as soon as it is asked for anew', async () => {
    shop = await dashboard.client('shop');
    await shop.send({ from: 'me@example.com', to: ['ann@example.org'], subject: 'Hello', text: 'Hi' });
    const headers = { 'content-type': 'application/json', 'x-request-id': 'from-the-app' };
    await ask('/emails', shop.key, {
      method: 'POST',
      headers,
      body: '{"from":"me@example.com","to":"ann","text":"x"}',
    });
    await ask('/api/v1/mesages?to=ann@example.org', shop.key);
    await ask('/api/v1/messages', 'wb_live_nobody');
    await expect
      .poll(async () => {
        await wide.getByRole('button', { name: 'Refresh' }).click();
        return await row(wide, '401').count();
      })
      .toBe(1);
    await row(wide, 'POST /api/v1/messages').getByText('202', { exact: true }).waitFor();
    const wrong = row(wide, 'POST /emails');
    await wrong.getByText('422', { exact: true }).waitFor();
    await wrong.getByText('invalid_submission /to', { exact: false }).waitFor();
    await row(wide, '/api/v1/mesages').getByText('not_found').waitFor();
    await row(wide, '401').getByText('unknown', { exact: true }).waitFor();
    expect(await wide.content()).not.toContain('ann@example.org');
  });

  test('is filtered by key and by answer, in the address', async () => {
    await wide.goto('/requests');
    await wide.getByRole('button', { name: 'Refused' }).click();
    await expect.poll(() => rows(wide).count()).toBe(1 + 3);
    expect(new URL(wide.url()).search).toBe('?show=refused');
    // Who was refused, and why, whichever way it came.
    const sources = wide.getByRole('table', { name: 'Refused sources' });
    await sources
      .getByRole('row')
      .filter({ hasText: 'no known key' })
      .getByText('unauthorized', { exact: true })
      .waitFor();
    await wide.getByRole('combobox', { name: 'API key' }).click();
    await wide.getByRole('option', { name: 'shop' }).click();
    await expect.poll(() => rows(wide).count()).toBe(1 + 2);
    expect(new URL(wide.url()).searchParams.get('key')).toBe('shop');
    await wide.getByRole('button', { name: 'Unknown key' }).click();
    await expect.poll(() => rows(wide).count()).toBe(1 + 1);
    expect(await wide.getByRole('combobox', { name: 'API key' }).count()).toBe(0);
    await wide.getByRole('button', { name: 'Accepted' }).click();
    await row(wide, '202').waitFor();
    expect(await row(wide, '422').count()).toBe(0);
    await dashboard.client('idle');
    await wide.goto('/requests?key=idle');
    await wide.getByText('No requests match').waitFor();
  });

  test('shows what was refused from one address, as a link to it says', async () => {
    await wide.goto('/requests?show=refused&source=192.0.2.9');
    await wide.getByText('Nothing was refused from there').waitFor();
    await wide.getByRole('button', { name: 'Show every source' }).click();
    const sources = wide.getByRole('table', { name: 'Refused sources' });
    await sources.getByText('127.0.0.1').first().waitFor();
    expect(new URL(wide.url()).search).toBe('?show=refused');
    await wide.goto('/requests?show=refused&source=127.0.0.1');
    await wide.getByRole('heading', { name: 'Refused at the door: 127.0.0.1' }).waitFor();
    await sources.getByText('127.0.0.1').first().waitFor();
  });

  test('opens by keys to what to do, and the request id can be copied', async () => {
    await wide.goto('/');
    await wide.getByRole('heading', { name: 'Overview' }).waitFor();
    await wide.keyboard.press('g');
    await wide.keyboard.press('e');
    await row(wide, 'POST /emails').waitFor();
    // The newest is first: 401, 404, then this one.
    for (const key of ['j', 'j', 'j', 'Enter']) await wide.keyboard.press(key);
    const dialog = wide.getByRole('dialog');
    await dialog.getByText('Correct the fields that errors names. Nothing was accepted.').waitFor();
    await dialog.getByText(/^The text is not an address/).waitFor();
    await dialog.getByText('from-the-app').waitFor();
    await dialog.getByRole('button', { name: 'Copy' }).last().click();
    await dialog.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await wide.evaluate<string>('navigator.clipboard.readText()')).toBe('from-the-app');
    await dialog.getByRole('button', { name: 'shop' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(new URL(wide.url()).search).toBe('?key=shop');
  });

  test('says that it loads, and what kept it from loading', async () => {
    await wide.goto('/requests?show=refused');
    await row(wide, '422').waitFor();
    await wide.route('**/api/call/requestLog', (route) =>
      route.fulfill({ status: 500, json: { code: 'failed', detail: 'The store is away.' } }),
    );
    await wide.goto('/requests?key=shop');
    await wide.getByRole('alert').getByText('The store is away.').waitFor();
    await wide.unroute('**/api/call/requestLog');
    const held = Promise.withResolvers<void>();
    await wide.route('**/api/call/requestLog', async (route) => {
      await held.promise;
      await route.continue();
    });
    await wide.getByRole('button', { name: 'Try again' }).click();
    await wide.getByRole('status', { name: 'Loading' }).waitFor();
    held.resolve();
    await row(wide, '422').waitFor();
    await wide.unroute('**/api/call/requestLog');
  });

  test('fits a phone, and is reached from the keys', async () => {
    await phone.goto('/settings/api-keys');
    await phone.getByRole('link', { name: 'Requests', exact: true }).click();
    await row(phone, '422').waitFor();
    await expect.poll(() => tooWide(phone)).toEqual([]);
    await row(phone, '422').getByRole('button').click();
    await phone.getByRole('dialog').getByText('from-the-app').waitFor();
    await settled(phone);
    await expect.poll(() => tooWide(phone)).toEqual([]);
    await phone.keyboard.press('Escape');
    await wide.goto('/');
    await wide.getByRole('link', { name: 'Refused at the door' }).click();
    await wide.waitForURL(/\/requests\?show=refused$/);
    await wide.goto('/settings/api-keys');
    await wide.getByText('no rate limit by default').first().waitFor();
    await wide.getByRole('button', { name: 'What to do with shop' }).click();
    await wide.getByRole('menuitem', { name: 'Requests' }).click();
    await row(wide, '422').waitFor();
    expect(new URL(wide.url()).search).toBe('?key=shop');
  });

  test('the printer that cannot send is two clicks from the overview: why, and what to do', async () => {
    const [port = 0] = dashboard.server.runtime.smtp;
    const printer = await SmtpClient.connect(port, { from: PRINTER });
    await printer.reply();
    await printer.ask('EHLO printer.office');
    await printer.askAll('MAIL FROM:<printer@example.com>', 'RCPT TO:<ann@example.org>', 'QUIT');
    await wide.goto('/requests?kind=smtp');
    await expect
      .poll(async () => {
        await wide.getByRole('button', { name: 'Refresh' }).click();
        return await row(wide, 'printer.office').count();
      })
      .toBe(1);
    await wide.goto('/');
    await wide.getByRole('link', { name: 'Refused at the door' }).click();
    await row(wide, 'printer.office').click();
    const drawer = wide.getByRole('dialog');
    await drawer.getByText('Let it sign in with an API key, or allow its address').waitFor();
    await drawer.getByText('550 5.7.1').waitFor();
    expect(await wide.content()).not.toContain('ann@example.org');
    await drawer.getByRole('button', { name: `Allow ${PRINTER}…` }).click();
    await wide.getByLabel('Address range').waitFor();
    await wide.keyboard.press('Escape');
    await drawer.getByRole('button', { name: PRINTER, exact: true }).click();
    await expect.poll(() => rows(wide).count()).toBe(1 + 1);
    expect(new URL(wide.url()).searchParams.get('source')).toBe(PRINTER);
    await phone.goto('/requests?kind=smtp');
    await row(phone, 'printer.office').getByRole('button').click();
    await settled(phone);
    await expect.poll(() => tooWide(phone)).toEqual([]);
  });

  test('tells how many requests a line stands for', async () => {
    // Of requests with no known key, ten a second have lines of their own.
    await Promise.all(Array.from({ length: 400 }, () => ask('/api/v1/messages', 'wb_live_nobody')));
    await wide.goto('/requests?show=refused');
    await expect
      .poll(async () => {
        await wide.getByRole('button', { name: 'Refresh' }).click();
        return await wide.getByTitle(/^Stands for \d+ requests$/).count();
      })
      .toBeGreaterThan(0);
  });
});
